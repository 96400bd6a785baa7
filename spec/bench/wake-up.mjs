/**
 * How long after the end of a run a duplicate that waits for it in another process has its answer: two server processes, one
 * redis-server, all on this machine. Both answers are timed by one client, from the owner's to the waiter's, so that the
 * owner's own way back counts against it and the waiter's reading of the response, and its way back, for it.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { NodeProcess } from '../faults/dist/support/servers/node-process.js';
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { send } from '../faults/dist/support/listen.js';

const ROUNDS = 300;
const WORK = 40;

const script = fileURLToPath(new URL('../support/programs/booking-server.mjs', import.meta.url));
const redis = await RedisServer.start();
const [owner, other] = await Promise.all([1, 2].map(() => NodeProcess.start(script, { STORE_URL: redis.url })));

const order = async ({ url }, key) => {
  const { headers } = await send(`${url}/bookings`, { headers: { 'Idempotency-Key': key, 'X-Work': String(WORK) } });
  return { at: performance.now(), replayed: headers['idempotent-replayed'] === 'true' };
};

const latencies = [];
for (let round = 0; round < ROUNDS; round++) {
  const key = randomUUID();
  const first = order(owner, key);
  await owner.printed(new RegExp(`^started ${key}`));
  const [ran, waited] = await Promise.all([first, order(other, key)]);
  if (ran.replayed || !waited.replayed) throw new Error('The wrong process ran');
  latencies.push(waited.at - ran.at);
}

latencies.sort((a, b) => a - b);
const at = share => `${latencies[Math.floor(share * (ROUNDS - 1))].toFixed(1)} ms`;
console.log(
  `A waiter in another process has its answer ${at(0.5)} after the owner's client (median of ${ROUNDS}; 5 %: ${at(0.05)}, 95 %: ${at(0.95)}, longest ${at(1)}).`,
);

await Promise.all([owner.kill(), other.kill()]);
await redis.stop();
