import { once } from 'node:events';
import { connect } from 'node:net';
import compression from 'compression';
import express, { type RequestHandler, type Response } from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const LONG = Buffer.alloc(5_000_000, 'a line of some length, ');
describe('a long replay', () => {
  const slow = async (before: RequestHandler[] = []) => {
    const replaying = signal<Response>();
    const closed = signal();
    const app = express().post(
      '/',
      ...before,
      (req, res, next) => {
        if (req.get('X-Slow')) {
          replaying.happens(res);
          res.on('close', () => closed.happens());
        }
        next();
      },
      idempotency(),
      (_req, res) => void res.type('text').send(LONG),
    );
    const { url, port } = await serve(app);
    await send(url, { headers: keyed('k') });
    const client = connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .pause();
    client.write(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: 1\r\nIdempotency-Key: k\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    const res = await replaying.happened;
    while (!res.headersSent) await new Promise(setImmediate);
    return { client, res, closed: closed.happened };
  };

  it('waits for a client that reads slowly: no more than a piece of it waits in the connection', async () => {
    const { client, res } = await slow();
    let most = 0;
    let received = 0;
    client
      .on('data', (chunk: Buffer) => {
        received += chunk.length;
        most = Math.max(most, res.writableLength, res.socket?.writableLength ?? 0);
        client.pause();
        setImmediate(() => {
          client.resume();
        });
      })
      .resume();
    await once(client, 'end');
    expect(received).toBeGreaterThan(LONG.length);
    expect(most).toBeLessThan(140_000);
  });

  it.each<[string, RequestHandler[]]>([
    ['', []],
    [' behind compression', [compression()]],
  ])('stops when its client leaves%s, and leaves no listener', async (_title, before) => {
    const { client, res, closed } = await slow(before);
    const written = jest.spyOn(res, 'write');
    client.destroy();
    await closed;
    const then = written.mock.calls.length;
    await new Promise(resolve => {
      setTimeout(resolve, 20);
    });
    expect(written.mock.calls.length).toBe(then);
    expect([res.listenerCount('drain'), res.writableEnded && before.length === 0]).toEqual([0, false]);
  });
});
