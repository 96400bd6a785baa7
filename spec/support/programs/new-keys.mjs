// A server in a process of its own that is given new keys only, until one is refused. Most of them go to its stores directly, as
// the middleware would write them, since hundreds of thousands of requests take minutes. It imports the built package by name, and
// prints how many keys there were, the statuses of its last requests, the text of a refusal, and whether a run is replayed.
import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { idempotency } from 'bindonce';
import express from 'express';

const DAY = 86_400_000;
const require = createRequire(import.meta.url);
const { defaultStore } = require('../../../dist/idempotency/stores/memory-responses.js');
const { leasesOfBackingStore } = require('../../../dist/idempotency/options/resolved-options.js');

const app = express();
app.post('/', idempotency({ cacheDuration: DAY }), (req, res) => {
  res.status(201).json({ order: req.idempotency.key });
});
const server = app.listen(0, '127.0.0.1');
await new Promise(resolve => server.once('listening', resolve));
const order = key =>
  fetch(`http://127.0.0.1:${server.address().port}`, { method: 'POST', headers: { 'Idempotency-Key': key } });

await order('first');
const store = defaultStore();
const leases = leasesOfBackingStore(store);
const room = leases.maxKeys - 20;
for (let keys = 1; keys < room; keys++) {
  const cacheKey = createHash('sha256').update(String(keys)).digest('hex');
  const token = `any.${randomUUID()}`;
  leases.acquire(cacheKey, token, 30_000);
  const headers = [['Content-Type', 'application/json; charset=utf-8']];
  store.set(cacheKey, token, { status: 201, headers, trailers: [], body: Buffer.from('x'.repeat(200)) }, DAY);
  leases.complete(cacheKey, token, DAY);
}
const statuses = new Set();
let refused = '';
let last = '';
for (let sent = 0; !refused; sent++) {
  const response = await order(`order ${sent}`);
  statuses.add(response.status);
  if (response.status === 201) last = `order ${sent}`;
  else refused = await response.text();
}
const replayed = (await order(last)).headers.get('idempotent-replayed');
console.log(JSON.stringify({ keys: leases.maxKeys, statuses: [...statuses], refused, replayed }));
process.exit();
