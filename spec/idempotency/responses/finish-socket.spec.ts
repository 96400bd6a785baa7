import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Response } from 'express';
import stoppable from 'stoppable';
import { idempotency } from '../../../lib';
import { finishOnSharedSocket } from '../../../lib/idempotency/responses/finish-socket';
import { expressVersions } from '../../support/express-versions';
import { RawClient } from '../../support/raw-client';
import { signal } from '../../support/signal';

const socketWith = (remoteAddress: string): Socket => ({ remoteAddress }) as unknown as Socket;

describe.each(expressVersions)('on %s, when a response finishes whose client has left,', (_version, express) => {
  it('a server of stoppable does not count its closed connection again', async () => {
    const addresses: unknown[] = [];
    let running = signal<Response>();
    const app = express().post('/', idempotency(), (req, res) => {
      addresses.push(req.ip);
      res.once('finish', () => addresses.push(req.ip));
      running.happens(res);
    });
    const server = stoppable(createServer(app));
    const { _pendingSockets: counted } = server as unknown as { _pendingSockets: ReadonlyMap<Socket, number> };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const leave = async (key: string): Promise<IncomingMessage> => {
      running = signal<Response>();
      const client = new RawClient(port);
      await client.send(
        `POST / HTTP/1.1\r\nHost: finish-${port}.example\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n\r\n`,
      );
      const res = await running.happened;
      const gone = new Promise(resolve => res.socket?.once('close', resolve));
      client.leave();
      await gone;
      const closed = once(res, 'close');
      res.send('done');
      await closed;
      return res.req;
    };
    await leave('first');
    const { size } = counted;
    const { socket } = await leave('second');
    expect([counted.size, counted.has(socket)]).toEqual([size, false]);
    expect(addresses).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1']);
    const stopped = signal();
    server.stop(() => {
      stopped.happens();
    });
    await stopped.happened;
  });
});

describe('the socket of a request whose response finishes', () => {
  it('is the same for all, looks like its own, and takes what is set on it', () => {
    const [own, other] = [socketWith('10.0.0.1'), socketWith('10.0.0.2')];
    const seen: unknown[] = [];
    const look = ({ socket }: IncomingMessage): number => seen.push(socket, socket.remoteAddress);
    const req = { socket: own } as IncomingMessage;
    finishOnSharedSocket(req, () => {
      look(req);
      const inner = { socket: other } as IncomingMessage;
      finishOnSharedSocket(inner, () => {
        look(inner);
      });
      look(req);
      Object.assign(req.socket, { isIdle: true });
    });
    const [shared] = seen;
    expect(seen).toEqual([shared, '10.0.0.1', shared, '10.0.0.2', shared, '10.0.0.1']);
    expect([req.socket === own, own]).toEqual([true, { remoteAddress: '10.0.0.1', isIdle: true }]);
    expect((shared as Socket).destroyed).toBe(true);
  });

  it('is put back if a listener throws, and stays null if a pipeline has failed', () => {
    const own = socketWith('10.0.0.1');
    const fail = (): never => {
      throw new Error('a listener');
    };
    const req = { socket: own } as IncomingMessage;
    expect(() => {
      finishOnSharedSocket(req, fail);
    }).toThrow('a listener');
    expect(req.socket).toBe(own);
    const without = { socket: null } as unknown as IncomingMessage;
    finishOnSharedSocket(without, () => {
      expect(without.socket).toBe(null);
    });
  });
});
