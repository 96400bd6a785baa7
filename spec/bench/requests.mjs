/**
 * What a whole request costs: CPU time of the server process, as a ratio to a bare handler in the same run. The server
 * has the first core, the load the others; each subject is measured between two measurements of the bare handler, in
 * rounds, and the table shows medians. `node requests.mjs [requests per measurement] [rounds] [part of a subject's name]`
 * Before it measures, it checks that all subjects answer alike.
 */
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { checkAnswers } from './requests/answers.mjs';
import { compare } from './requests/compare.mjs';
import { keepToOtherCores } from './requests/pinned-server.mjs';
import { scenarios } from './requests/scenarios.mjs';
import { consoleHead, consoleRow } from './requests/tables.mjs';

// Many short rounds: the speed of a virtual machine may change within a second.
const [, , requests = '1000', rounds = '21', only = ''] = process.argv;

keepToOtherCores();
const redis = await RedisServer.start();
try {
  const settings = { requests: Number(requests), rounds: Number(rounds), env: { REDIS_URL: redis.url } };
  const chosen = Object.entries(scenarios)
    .map(([key, scenario]) => ({
      scenario: { ...scenario, key },
      names: Object.keys(scenario.subjects).filter(name => name.includes(only)),
    }))
    .filter(({ names }) => names.length > 0);
  for (const { scenario, names } of chosen) await checkAnswers(scenario, names, settings.env);
  for (const { scenario, names } of chosen) {
    console.log(consoleHead(scenario.title));
    for (const name of names) console.log(consoleRow(name, await compare(scenario, name, settings)));
  }
} finally {
  await redis.stop();
}
