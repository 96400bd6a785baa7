// A server under test in a process of its own: it imports the built package by name, as an ES module.
// OPTIONS (JSON) are options of idempotency(); REDIS_URL is the shared store; LOG is a file to which every start and end of
// the handler is appended, outside the library. X-Work says how many milliseconds a run takes; X-Stop: true stops its process
// until it is told to go on.
import { appendFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as work } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import { idempotency } from 'bindonce';
import express from 'express';
import { Keyv } from 'keyv';

const { OPTIONS = '{}', REDIS_URL, LOG = '/dev/null', PORT = '0' } = process.env;

process.on('unhandledRejection', error => {
  console.log(`unhandled ${error}`);
});

const store = new Keyv(new KeyvRedis(REDIS_URL));
store.on('error', () => undefined);
const guard = idempotency({
  store,
  ...JSON.parse(OPTIONS),
  scope: () => 'all',
  onEvent: ({ kind, key }) => {
    console.log(`event ${kind} ${key}`);
  },
});
const log = (what, req) => {
  appendFileSync(LOG, `${JSON.stringify({ what, key: req.idempotency.key, pid: process.pid })}\n`);
};

const app = express();
// All processes are one service.
app.use((req, _res, next) => {
  req.headers.host = 'orders';
  next();
});
app.post('/orders', guard, async (req, res) => {
  log('start', req);
  console.log(`started ${req.idempotency.key}`);
  const { signal } = req.idempotency;
  const tell = () => console.log(`aborted ${req.idempotency.key}`);
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell);
  if (req.get('X-Stop') === 'true') process.kill(process.pid, 'SIGSTOP');
  await work(Number(req.get('X-Work') ?? 0));
  log('end', req);
  res.status(201).json({ order: randomUUID() });
});
app.post('/last', guard, (req, res) => {
  log('start', req);
  res.on('finish', () => server.close(() => process.exit()));
  res.status(201).json({ order: randomUUID() });
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
