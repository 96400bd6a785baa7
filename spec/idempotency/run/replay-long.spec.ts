import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { RequestHandler, Response } from 'express';
import { guarded } from '../../support/guarded';
import { signal } from '../../support/signal';

const LONG = Buffer.alloc(5_000_000, 'a line of some length, ');

/** A replay of 5 MB has begun, of which its client has read nothing yet. */
async function slowReplay() {
  const replaying = signal<Response>();
  const before: RequestHandler = (req, res, next) => {
    if (req.get('X-Slow')) replaying.happens(res);
    next();
  };
  const { port, post } = await guarded({}, (_req, res) => res.type('text').send(LONG), { before: [before] });
  await post();
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: 1\r\nIdempotency-Key: k\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  const res = await replaying.happened;
  while (!res.headersSent) await new Promise(setImmediate);
  return { client, res };
}

it('a long replay waits for a client that reads slowly: no more than a piece of it waits in the connection', async () => {
  const { client, res } = await slowReplay();
  let most = 0;
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
    most = Math.max(most, res.writableLength, res.socket?.writableLength ?? 0);
    client.pause();
    setImmediate(() => client.resume());
  });
  client.resume();
  await once(client, 'end');
  expect(received).toBeGreaterThan(LONG.length);
  expect(most).toBeLessThan(140_000);
});

it('a long replay stops when its client leaves, and leaves no listener', async () => {
  const { client, res } = await slowReplay();
  const written = jest.spyOn(res, 'write');
  client.destroy();
  await once(res, 'close');
  const then = written.mock.calls.length;
  await pause(20);
  expect([written.mock.calls.length - then, res.listenerCount('drain')]).toEqual([0, 0]);
});
