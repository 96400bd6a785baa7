/**
 * What a whole request costs: CPU time of the server process, as a ratio to a bare handler in the same run. The server
 * has the first core, the load the others; each subject is measured between two measurements of the bare handler, in
 * rounds, and the table shows medians. `node requests.mjs [requests per measurement] [rounds] [part of a subject's name]`
 */
import { randomUUID } from 'node:crypto';
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { send } from './requests/load.mjs';
import { keepToOtherCores, PinnedServer } from './requests/pinned-server.mjs';
import { scenarios } from './requests/scenarios.mjs';

const [, , requests = '4000', rounds = '5', only = ''] = process.argv;
const COUNT = Number(requests);
const WARM_UP = 3_000;

const median = numbers => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const p99 = latencies => latencies.toSorted((a, b) => a - b)[Math.floor(0.99 * latencies.length)];

/** @returns the CPU time of a request in microseconds, and the latency that one in a hundred exceeds, in milliseconds. */
async function measure(server, { request, status }, count, key) {
  const all = Array.from({ length: count }, () => request(key));
  const before = await server.micros();
  const latencies = await send(server.url, all, status);
  return { micros: ((await server.micros()) - before) / count, p99: p99(latencies) };
}

async function compare(scenario, name, redis) {
  const { replays } = scenario.subjects[name];
  const key = replays ? randomUUID() : undefined;
  const env = { REDIS_URL: redis.url };
  const [bare, subject] = [
    await PinnedServer.start(scenario.key, 'bare', env),
    await PinnedServer.start(scenario.key, name, env),
  ];
  try {
    await measure(bare, scenario, WARM_UP);
    if (key) await measure(subject, scenario, 1, key);
    await measure(subject, scenario, WARM_UP, key);
    const results = [];
    for (let round = 0; round < Number(rounds); round++) {
      const [before, own, after] = [
        await measure(bare, scenario, COUNT),
        await measure(subject, scenario, COUNT, key),
        await measure(bare, scenario, COUNT),
      ];
      const floor = (before.micros + after.micros) / 2;
      results.push({ ratio: own.micros / floor, floor, latency: own.p99 / ((before.p99 + after.p99) / 2) });
    }
    return results;
  } finally {
    bare.stop();
    subject.stop();
  }
}

keepToOtherCores();
const redis = await RedisServer.start();
for (const [key, scenario] of Object.entries(scenarios)) {
  console.log(`\n| ${scenario.title} | CPU time, bare = 1 | from, to | p99 latency, bare = 1 |\n|---|---|---|---|`);
  for (const name of Object.keys(scenario.subjects)) {
    if (!name.includes(only)) continue;
    const results = await compare({ ...scenario, key }, name, redis);
    const ratios = results.map(({ ratio }) => ratio);
    const floor = name === 'bare' ? ` (${median(results.map(one => one.floor)).toFixed(0)} µs)` : '';
    console.log(
      `| ${name} | ${median(ratios).toFixed(2)}${floor} | ${Math.min(...ratios).toFixed(2)}, ${Math.max(...ratios).toFixed(2)} | ${median(results.map(({ latency }) => latency)).toFixed(2)} |`,
    );
  }
}
await redis.stop();
