import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { finished } from 'node:stream';
import type { Request, Response } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

type Watch = (req: Request, left: () => void) => unknown;

const watches: [title: string, watch: Watch][] = [
  ["req.socket.on('close')", (req, left) => req.socket.on('close', left)],
  ["req.socket.prependOnceListener('close')", (req, left) => req.socket.prependOnceListener('close', left)],
  [
    "req.client.on('close')",
    (req, left) => {
      (req as unknown as { client: Socket }).client.on('close', left);
    },
  ],
  ["req.socket.once('end')", (req, left) => req.socket.once('end', left)],
  ["events.once(req.socket, 'close')", (req, left) => once(req.socket, 'close').then(left)],
  ['stream.finished(req.socket)', (req, left) => finished(req.socket, left)],
];
// From Node 24.16 on.
if ('signal' in IncomingMessage.prototype)
  watches.push([
    'req.signal',
    (req, left) => {
      Reflect.get<Request & { signal: AbortSignal }, 'signal'>(req as never, 'signal').addEventListener('abort', left);
    },
  ]);

describe.each(expressVersions)('on %s, when the client leaves,', (_version, express) => {
  /** Runs `handler`, which its client leaves once it has returned. Resolves when the connection has closed. */
  const leave = async (handler: (req: Request, res: Response) => unknown, options: IdempotencyOptions = {}) => {
    const [running, gone] = [signal<Response>(), signal<Socket>()];
    const app = express().post(
      '/',
      (req, _res, next) => {
        const { socket } = req;
        socket.once('close', () => {
          setImmediate(gone.happens, socket);
        });
        next();
      },
      idempotency(options),
      (req, res) => {
        handler(req, res);
        running.happens(res);
      },
    );
    const { port, url } = await serve(app);
    const client = connect(port, '127.0.0.1');
    client.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`);
    const res = await running.happened;
    client.destroy();
    return { res, socket: await gone.happened, retry: () => send(url, { headers: keyed('k') }) };
  };

  it.each(watches)('a handler that watches it by %s goes on to its end', async (_title, watch) => {
    let hasLeft = false;
    const { res, retry } = await leave(req => {
      watch(req, () => {
        hasLeft = true;
      });
    });
    expect(hasLeft).toBe(false);
    res.status(201).send('done');
    const { status, text } = await retry();
    expect([status, text]).toEqual([201, 'done']);
  });

  it.each(watches)('a handler that has begun to respond is told by %s when `res` closes', async (_title, watch) => {
    const left = signal();
    const { res } = await leave(
      (req, response) => {
        watch(req, left.happens);
        response.write('data: hello\n\n');
      },
      { leaseDuration: 400 },
    );
    await left.happened;
    expect(res.destroyed).toBe(true);
  });

  it('a listener that was removed is not called later, and one of an earlier middleware is called at once', async () => {
    const told: string[] = [];
    const tell = (): void => {
      told.push('removed');
    };
    const { res, socket } = await leave(req => {
      req.socket.once('close', tell);
      req.socket.on('close', () => told.push('kept'));
    });
    expect([told, socket.listeners('close').includes(tell)]).toEqual([[], true]);
    res.req.socket.off('close', tell);
    const closed = once(res, 'close');
    res.send('done');
    await closed;
    expect(told).toEqual(['kept']);
  });

  it('a handler that looks at its connection sees an open one', async () => {
    const { res } = await leave(() => undefined);
    const { destroyed, closed, errored, readable, writable } = res.req.socket;
    expect([destroyed, closed, errored, readable, writable]).toEqual([false, false, null, true, true]);
    res.send('done');
  });
});
