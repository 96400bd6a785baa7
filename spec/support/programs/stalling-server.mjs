// A server in a process of its own that can be made to stand still: GET /stall/300 lets nothing in it run for 300 ms.
// It imports the built package by name; OPTIONS (JSON) are options of idempotency(). X-Work says how many milliseconds
// a handler takes.
import { setTimeout as work } from 'node:timers/promises';
import { idempotency } from 'bindonce';
import express from 'express';

const guard = idempotency({
  ...JSON.parse(process.env.OPTIONS ?? '{}'),
  onEvent: ({ kind, key }) => {
    console.log(`event ${kind} ${key}`);
  },
});
let runs = 0;

const app = express();
app.post('/', guard, async (req, res) => {
  const run = ++runs;
  console.log(`started ${req.idempotency.key}`);
  await work(Number(req.get('X-Work')));
  res.json({ run });
});
app.get('/stall/:ms', (req, res) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(req.params.ms));
  res.end();
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
