/**
 * What a whole request costs: CPU time of the server process, as a ratio to a bare handler in the same run. The server
 * has the first core, the load the others; each subject is measured between two measurements of the bare handler, in
 * rounds, and the table shows medians. `node requests.mjs [requests per measurement] [rounds] [part of a subject's name]`
 */
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { compare, median } from './requests/compare.mjs';
import { keepToOtherCores } from './requests/pinned-server.mjs';
import { scenarios } from './requests/scenarios.mjs';

const [, , requests = '4000', rounds = '5', only = ''] = process.argv;

keepToOtherCores();
const redis = await RedisServer.start();
const settings = { requests: Number(requests), rounds: Number(rounds), env: { REDIS_URL: redis.url } };
for (const [key, scenario] of Object.entries(scenarios)) {
  console.log(`\n| ${scenario.title} | CPU time, bare = 1 | from, to | p99 latency, bare = 1 |\n|---|---|---|---|`);
  for (const name of Object.keys(scenario.subjects)) {
    if (!name.includes(only)) continue;
    const results = await compare({ ...scenario, key }, name, settings);
    const ratios = results.map(({ ratio }) => ratio);
    const floor = name === 'bare' ? ` (${median(results.map(one => one.floor)).toFixed(0)} µs)` : '';
    console.log(
      `| ${name} | ${median(ratios).toFixed(2)}${floor} | ${Math.min(...ratios).toFixed(2)}, ${Math.max(...ratios).toFixed(2)} | ${median(results.map(({ latency }) => latency)).toFixed(2)} |`,
    );
  }
}
await redis.stop();
