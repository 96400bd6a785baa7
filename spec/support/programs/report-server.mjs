// A server in a process of its own that makes one long report for each key, and says how its event loop has fared. It imports the
// built package by name; OPTIONS (JSON) are options of idempotency(), REDIS_URL is the store (none: memory).
import { monitorEventLoopDelay } from 'node:perf_hooks';
import KeyvRedis from '@keyv/redis';
import { idempotency } from 'bindonce';
import express from 'express';
import { Keyv } from 'keyv';

const { OPTIONS = '{}', REDIS_URL } = process.env;
const store = REDIS_URL ? new Keyv(new KeyvRedis(REDIS_URL)) : undefined;
store?.on('error', () => undefined);
let reads = 0;
if (store) {
  const get = store.get.bind(store);
  store.get = key => {
    reads++;
    return get(key);
  };
}
const events = {};
const guard = idempotency({
  ...(store && { store }),
  ...JSON.parse(OPTIONS),
  onEvent: ({ kind }) => {
    events[kind] = (events[kind] ?? 0) + 1;
  },
});
const delay = monitorEventLoopDelay({ resolution: 10 });
let finish;
const finished = new Promise(resolve => {
  finish = resolve;
});
let waiting = 0;
let runs = 0;

const app = express();
app.post(
  '/report',
  (_req, _res, next) => {
    waiting++;
    next();
  },
  guard,
  async (_req, res) => {
    runs++;
    await finished;
    res.type('text').send(Buffer.alloc(5_000_000, 'report '));
  },
);
app.post('/small', guard, (_req, res) => {
  res.json({ small: true });
});
app.get('/waiting', (_req, res) => {
  res.json(waiting);
});
app.post('/finish', (_req, res) => {
  delay.enable();
  finish();
  res.end();
});
app.get('/fared', (_req, res) => {
  res.json({ runs, reads, events, slowest: delay.max / 1e6 });
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
