import { setImmediate as turn } from 'node:timers/promises';
import { request } from 'node:http';
import { collectGarbage } from '../../support/garbage';
import { guarded } from '../../support/guarded';
import { keyed } from '../../support/replays';
import { signal } from '../../support/signal';

const CHUNK = 1_000_000;
const CHUNKS = 100;

/** Bytes of all buffers that are still in use. V8 frees them beside its collection, not in it: what one has found, the next counts. */
async function inUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await turn();
  }
  return process.memoryUsage().arrayBuffers;
}

it.each([
  ['reads it', false],
  ['is gone', true],
])('a response of 100 MB is not kept in memory when its client %s', async (_title, leaves) => {
  const [running, gone] = [signal(), signal()];
  let kept = Infinity;
  const { url, log } = await guarded({ maxResponseBytes: CHUNK }, async (_req, res) => {
    res.socket?.once('close', gone.happens);
    res.write('x');
    running.happens();
    if (leaves) await gone.happened;
    const before = await inUse();
    for (let sent = 0; sent < CHUNKS; sent++)
      await new Promise(resolve => void res.write(Buffer.alloc(CHUNK), resolve));
    kept = (await inUse()) - before;
    res.end();
  });
  const client = request(url, { method: 'POST', headers: keyed('k'), agent: false }, response => response.resume());
  client.on('error', () => undefined).end();
  await running.happened;
  if (leaves) client.destroy();
  await log.first('not-stored');
  expect(kept).toBeLessThan(50 * CHUNK);
});
