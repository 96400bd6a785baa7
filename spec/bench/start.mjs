/**
 * What the start of an application of 300 endpoints costs, with and without node's compile cache: the CPU time in which its
 * middlewares are made, and that of the first request to each. Medians of processes that take turns.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './requests/compare.mjs';
import { send } from './requests/load.mjs';
import { requests } from './start/endpoints.mjs';

const ROUNDS = 15;

const path = name => fileURLToPath(new URL(name, import.meta.url));

/** @returns the milliseconds of CPU time in which the endpoints were made, and answered their first requests. */
async function start(env) {
  const child = fork(path('start/server.mjs'), { env: { ...process.env, NODE_ENV: 'production', ...env } });
  const message = async () => (await once(child, 'message'))[0];
  const micros = async () => {
    child.send('cpu');
    return (await message()).micros;
  };
  const { port, made } = await message();
  const before = await micros();
  await send(new URL(`http://127.0.0.1:${port}`), requests, 200);
  const first = (await micros()) - before;
  child.disconnect();
  await once(child, 'exit');
  return { made: made / 1_000, first: first / 1_000 };
}

const cache = mkdtempSync(join(tmpdir(), 'bindonce-compile-cache-'));
try {
  const subjects = { 'no cache': {}, 'the compile cache': { NODE_COMPILE_CACHE: cache } };
  const results = Object.fromEntries(Object.keys(subjects).map(name => [name, []]));
  // The cache is written when a process ends.
  for (const subject of Object.values(subjects)) await start(subject);
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, subject] of Object.entries(subjects)) results[name].push(await start(subject));
  console.log('| 300 endpoints, CPU time | made | first request to each | together |\n|---|---|---|---|');
  for (const [name, own] of Object.entries(results)) {
    const of = part => `${Math.round(median(own.map(part)))} ms`;
    console.log(`| ${name} | ${of(one => one.made)} | ${of(one => one.first)} | ${of(one => one.made + one.first)} |`);
  }
} finally {
  rmSync(cache, { recursive: true });
}
