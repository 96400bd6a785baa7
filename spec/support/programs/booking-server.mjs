// A server under test in a process of its own, on the version of Express that EXPRESS names; it imports the built package by
// name. OPTIONS (JSON) are options of idempotency(); STORE_URL is the shared Redis or PostgreSQL (none: memory); LOG is a file to
// which every run is appended, outside the library. What a run does is said in headers, which take no part in the identity of a
// request: X-Work, milliseconds; X-Then, how it ends; X-Stop, whether its process stops until it is told to go on.
// GET /stall/300 lets nothing in the process run for 300 ms.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as work } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import { idempotency, postgresStore } from 'bindonce';
import { Keyv } from 'keyv';
import { Pool } from 'pg';

const { OPTIONS = '{}', STORE_URL = '', LOG = '/dev/null', EXPRESS = 'express', SURVIVE = 'yes' } = process.env;
const { default: express } = await import(EXPRESS);

if (SURVIVE === 'yes')
  process.on('unhandledRejection', error => {
    console.log(`unhandled ${error}`);
  });

const heard = emitter => emitter.on('error', () => undefined);
const stores = {
  redis: () => ({ store: heard(new Keyv(new KeyvRedis(STORE_URL))) }),
  postgres: () => ({ store: postgresStore(heard(new Pool({ connectionString: STORE_URL }))) }),
  '': () => ({}),
};
const guard = idempotency({
  ...stores[STORE_URL.split(':', 1)[0]](),
  ...JSON.parse(OPTIONS),
  onEvent: ({ kind, key }) => {
    console.log(`event ${kind} ${key}`);
  },
});

const endings = {
  answer: (_req, res, booking) => {
    res.status(201).json(booking);
  },
  forget(req, res, booking) {
    req.idempotency.forget();
    res.status(201).json(booking);
  },
  reject: () => Promise.reject(new Error('The handler gave up')),
  exit(_req, res, booking) {
    res.on('finish', () => {
      server.close(() => process.exit());
    });
    res.status(201).json(booking);
  },
  exitAtOnce(_req, res, booking) {
    res.status(201).json(booking);
    server.close(() => process.exit());
  },
  exitOnceWritten(_req, res, booking) {
    res.status(201).write('written: ');
    res.end(JSON.stringify(booking), () => {
      process.exit();
    });
  },
};

const app = express();
// All processes are one service.
app.use((req, _res, next) => {
  req.headers.host = 'bookings';
  next();
});
app.post('/bookings', guard, async (req, res) => {
  const { key, signal } = req.idempotency;
  const booking = { booking: randomUUID(), at: Date.now() };
  appendFileSync(LOG, `${JSON.stringify({ key })}\n`);
  console.log(`started ${key}`);
  signal.addEventListener('abort', () => {
    console.log(`aborted ${key}`);
  });
  if (req.get('X-Stop') === 'true') process.kill(process.pid, 'SIGSTOP');
  await work(Number(req.get('X-Work') ?? 0));
  return endings[req.get('X-Then') ?? 'answer'](req, res, booking);
});
app.get('/stall/:ms', (req, res) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(req.params.ms));
  res.end();
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
