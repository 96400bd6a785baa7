import { once } from 'node:events';
import type { RequestHandler, Response } from 'express';
import { idempotency } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { RawClient } from '../../support/raw-client';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

const MEGABYTE = 'x'.repeat(1_000_000);

/** Writes, and waits for the callback. */
const write = (res: Response, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    res.write(text, error => {
      if (error) reject(error);
      else resolve();
    });
  });

type Work = (res: Response, client: RawClient) => Promise<unknown>;

/** Serves a handler with a client that reads nothing. */
async function served(
  express: typeof import('express'),
  work: Work,
): Promise<{ url: string; log: EventLog; runs: () => number }> {
  let runs = 0;
  const log = new EventLog();
  const handler: RequestHandler = (_req, res, next) => {
    runs++;
    work(res, client).then(() => res.end('end'), next);
  };
  const { port, url } = await serve(express().post('/', idempotency({ onEvent: log.onEvent }), handler));
  const client = new RawClient(port);
  client.socket.pause();
  await client.send(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`);
  return { url, log, runs: () => runs };
}

describe.each(expressVersions)('on %s, a handler that waits for the callbacks of its writes', (_version, express) => {
  it.each<[string, Work, number]>([
    [
      'while a write waits for the connection',
      async (res, client) => {
        // More than the system takes.
        const writing = Array.from({ length: 9 }, () => write(res, MEGABYTE));
        setImmediate(() => {
          client.leave();
        });
        await Promise.all(writing);
      },
      9_000_003,
    ],
    [
      'and the next write fails',
      async (res, client) => {
        await write(res, 'first');
        client.socket.resetAndDestroy();
        await write(res, 'next');
        await write(res, 'last');
      },
      16,
    ],
    [
      'after it has ended its side of the connection',
      async (res, client) => {
        res.write(MEGABYTE.repeat(9));
        const { socket } = res;
        client.socket.allowHalfOpen = true;
        client.socket.end();
        while (socket?.writable) await new Promise(setImmediate);
        const writing = write(res, 'next');
        client.leave();
        await writing;
      },
      9_000_007,
    ],
  ])('goes on if its client leaves %s, and a retry gets its response', async (_title, work, length) => {
    const { url, log, runs } = await served(express, work);
    await log.first('executed');
    const { status, text } = await send(url, { headers: keyed('k') });
    expect([status, text.length, runs()]).toEqual([200, length, 1]);
  });

  it('has each called once', async () => {
    const over = signal();
    let calls = 0;
    const { log } = await served(express, async (res, client) => {
      const writing = Array.from({ length: 9 }, () => {
        return new Promise<void>(resolve => {
          res.write(MEGABYTE, () => {
            calls++;
            resolve();
          });
        });
      });
      res.once('close', () => {
        over.happens();
      });
      client.leave();
      await Promise.all(writing);
    });
    await log.first('executed');
    await over.happened;
    await new Promise(setImmediate);
    expect(calls).toBe(9);
  });

  it('gets the error once it has called forget(), as without bindonce', async () => {
    const failed = signal<unknown>();
    await served(express, async (res, client) => {
      res.req.idempotency.forget();
      const { socket } = res;
      const closed = socket && once(socket, 'close');
      client.socket.resetAndDestroy();
      await write(res, 'first').catch(failed.happens);
      await closed;
    });
    expect(await failed.happened).toMatchObject({ syscall: 'write' });
  });
});
