/**
 * What the start of an application of 300 endpoints costs, with and without generated contexts: the CPU time in which its
 * middlewares are made, and that of the first request to each. Generated code can be kept by node's compile cache (from
 * Node 22 on), compiled code cannot. Medians of processes that take turns.
 */
import { execFileSync, fork } from 'node:child_process';
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
async function start(args, env) {
  const child = fork(path('start/server.mjs'), args, { env: { ...process.env, NODE_ENV: 'production', ...env } });
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

const generated = path('start/contexts.mjs');
const cache = mkdtempSync(join(tmpdir(), 'bindonce-compile-cache-'));
try {
  const command = [path('../../dist/cli/bindonce.js'), 'generate', path('start/middlewares.mjs'), '-o', generated];
  execFileSync(process.execPath, command);
  const subjects = {
    'compiled when first used': [[], {}],
    'the same, with the compile cache': [[], { NODE_COMPILE_CACHE: cache }],
    generated: [['generated'], {}],
    'generated, with the compile cache': [['generated'], { NODE_COMPILE_CACHE: cache }],
  };
  const results = Object.fromEntries(Object.keys(subjects).map(name => [name, []]));
  // The cache is written when a process ends.
  for (const subject of Object.values(subjects)) await start(...subject);
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, subject] of Object.entries(subjects)) results[name].push(await start(...subject));
  console.log('| 300 endpoints, CPU time | made | first request to each | together |\n|---|---|---|---|');
  for (const [name, own] of Object.entries(results)) {
    const of = part => `${Math.round(median(own.map(part)))} ms`;
    console.log(`| ${name} | ${of(one => one.made)} | ${of(one => one.first)} | ${of(one => one.made + one.first)} |`);
  }
} finally {
  rmSync(cache, { recursive: true });
  for (const file of [generated, generated.replace('.mjs', '.d.mts')]) rmSync(file, { force: true });
}
