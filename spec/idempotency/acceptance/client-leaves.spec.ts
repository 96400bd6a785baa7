import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { idempotency } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** What must hold when a connection ends at a bad moment: the response is there for a retry, and nothing stays open. */

const requestTo = (port: number): string =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`;

/** Resolves when the server has learned that the connection ends. */
const ending = (socket: Socket): Promise<unknown> =>
  new Promise(resolve => {
    for (const event of ['end', 'error', 'close']) socket.once(event, resolve);
  });

/** The other end of the next connection. */
const accepted = async (server: Server): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];

describe.each(expressVersions)('%s', (_version, express) => {
  it.each<[how: string, leave: (client: Socket) => unknown]>([
    ['closes its connection', client => client.destroy()],
    ['resets it', client => client.resetAndDestroy()],
    ['says that it sends nothing more', client => client.end()],
  ])(
    'a client that %s while the end of its response is held back: stored, `finish` and `close` told, closed',
    async (_how, leave) => {
      const [completing, mayComplete, closed] = [signal(), signal(), signal()];
      const leases = new HookedLeases({
        complete: () => {
          completing.happens();
          return mayComplete.happened;
        },
      });
      const log = new EventLog();
      const told: string[] = [];
      let runs = 0;
      const app = express().post('/', idempotency({ leases, onEvent: log.onEvent }), (_req, res) => {
        res.once('finish', () => told.push('finish'));
        res.once('close', () => {
          told.push('close');
          closed.happens();
        });
        res.json({ run: ++runs });
      });
      const { url, port, server } = await serve(app);
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write(requestTo(port));
      const socket = await accepted(server);
      await completing.happened;
      leave(client.resume());
      await (client.destroyed ? once(client, 'close') : ending(socket));
      // The server reads the end of the connection in its next turns.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      mayComplete.happens();
      await log.first('executed');
      await closed.happened;
      expect(told).toEqual(['finish', 'close']);
      if (!socket.closed) await once(socket, 'close');
      const open = await new Promise<number>(resolve => {
        server.getConnections((_error, count) => resolve(count));
      });
      expect(open).toBe(0);
      const retry = await send(url, { headers: keyed('k') });
      expect([retry.text, retry.headers['idempotent-replayed'], runs]).toEqual(['{"run":1}', 'true', 1]);
    },
  );

  it.each<[how: string, close: (server: Server, client: Socket) => unknown]>([
    ['by its time-out', (_server, client) => client],
    ['by closeAllConnections()', server => server.closeAllConnections()],
    ['by a 400 to garbage', (_server, client) => client.write('no request\r\n\r\n')],
  ])(
    'the server closes the connection %s, before a handler writes or while it streams: what it writes is stored, and it runs once',
    async (how, close) => {
      for (const first of ['', 'first, ']) {
        const [begun, gone] = [signal(), signal()];
        let runs = 0;
        const app = express().post('/', idempotency({ waitTimeout: 60_000 }), (_req, res) => {
          runs++;
          if (first) res.write(first);
          void gone.happened.then(() => {
            res.write('second, ');
            res.end('last');
          });
          begun.happens();
        });
        const { url, port, server } = await serve(app);
        if (how.includes('time-out')) server.setTimeout(50);
        const client = connect(port, '127.0.0.1').on('error', () => undefined);
        client.write(requestTo(port));
        const socket = await accepted(server);
        server.setTimeout(0);
        await begun.happened;
        close(server, client.resume());
        await ending(socket);
        gone.happens();
        const retry = await send(url, { headers: keyed('k') });
        expect([retry.text, retry.headers['idempotent-replayed'], runs]).toEqual([`${first}second, last`, 'true', 1]);
      }
    },
  );
});
