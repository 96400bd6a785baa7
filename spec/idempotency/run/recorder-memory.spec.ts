import { request } from 'node:http';
import express from 'express';
import { idempotency } from '../../../lib';
import { collectGarbage } from '../../support/garbage';
import { EventLog } from '../../support/event-log';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const CHUNK = 1_000_000;
const CHUNKS = 100;

/** Bytes of all buffers that are still in use. V8 frees them beside its collection, not in it: what one has found, the next counts. */
async function inUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise(resolve => {
      setImmediate(resolve);
    });
  }
  return process.memoryUsage().arrayBuffers;
}

describe('a response of 100 MB', () => {
  it.each<[string, boolean]>([
    ['reads it', false],
    ['is gone', true],
  ])('is not kept in memory when its client %s', async (_title, leaves) => {
    const log = new EventLog();
    const running = signal();
    const gone = signal();
    let kept = Infinity;
    const app = express().post(
      '/',
      idempotency({ maxResponseBytes: CHUNK, onEvent: log.onEvent }),
      async (_req, res) => {
        res.socket?.once('close', () => gone.happens());
        res.write('x');
        running.happens();
        if (leaves) await gone.happened;
        const before = await inUse();
        for (let sent = 0; sent < CHUNKS; sent++)
          await new Promise(resolve => void res.write(Buffer.alloc(CHUNK), resolve));
        kept = (await inUse()) - before;
        res.end();
      },
    );
    const { url } = await serve(app);
    const client = request(url, { method: 'POST', headers: keyed('k'), agent: false }, response => {
      response.resume();
    }).on('error', () => undefined);
    client.end();
    await running.happened;
    if (leaves) client.destroy();
    await log.first('not-stored');
    expect(kept).toBeLessThan(50 * CHUNK);
  });
});
