/**
 * Where the time of a whole request goes: the self time of functions, by the part of the system that they belong to, for
 * the bare handler of a scenario and for other subjects. They take turns; the profiler itself takes some time, too.
 * `node profile.mjs [scenario] [subject]...`
 */
import { randomUUID } from 'node:crypto';
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { WARM_UP } from './requests/compare.mjs';
import { send } from './requests/load.mjs';
import { keepToOtherCores, PinnedServer } from './requests/pinned-server.mjs';
import { scenarios } from './requests/scenarios.mjs';

const ROUNDS = 20;
const REQUESTS = 1_000;

/** The parts, each with what the address of its functions contains; the first one that fits counts. */
const PARTS = [
  ['Keyv, lru-cache and the Redis client', /node_modules\/(keyv|@keyv|lru-cache|@redis)/],
  ['express.json()', /node_modules\/(body-parser|raw-body|content-type|type-is|iconv-lite|bytes|media-typer)/],
  ['Express', /node_modules\/(express|router|path-to-regexp|parseurl|etag|finalhandler|mime-)/],
  ['other packages', /node_modules/],
  ['which request it is', /dist\/(idempotency\/identity|basics\/sha256)/],
  ['leases', /dist\/idempotency\/(leases|redis|run\/renewal)/],
  ['recording and keeping the response', /dist\/idempotency\/responses/],
  ['the rest of idempotency()', /dist\/idempotency/],
  ['binding', /dist\/binding/],
  ['the rest of bindonce', /dist\//],
  ['hashes, in node', /^node:internal\/crypto/],
  ['streams and HTTP, in node', /^node:/],
  ['the handler', /bench\//],
];
const COLLECTOR = 'garbage collector';
const WRITING = 'writing to the socket';
const NATIVE = 'V8 and other native code';
const natives = {
  '(garbage collector)': COLLECTOR,
  writev: WRITING,
  writeUtf8String: WRITING,
  '(idle)': undefined,
  // The profiler's own.
  dispatch: undefined,
};
const PROFILER = 'node:inspector';

function partOf({ functionName, url }) {
  if (url === PROFILER) return undefined;
  if (url === '') return functionName in natives ? natives[functionName] : NATIVE;
  return PARTS.find(([, address]) => address.test(url))?.[0] ?? 'other';
}

/** Adds the self time of each part of a profile to the sums, in microseconds. */
function add(sums, { nodes, samples, timeDeltas }) {
  const partOfNode = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  for (const [index, id] of samples.entries()) {
    const part = partOfNode.get(id);
    if (part) sums.set(part, (sums.get(part) ?? 0) + timeDeltas[index]);
  }
}

const [, , key = 'idempotency', ...given] = process.argv;
const scenario = scenarios[key];
const names = ['bare', ...(given.length > 0 ? given : Object.keys(scenario.subjects).filter(isOurs))];

function isOurs(name) {
  return /^(idempotency|bindRequest)/.test(name);
}

keepToOtherCores();
const redis = await RedisServer.start();
const subjects = [];
try {
  for (const name of names) {
    const server = await PinnedServer.start(key, name, { REDIS_URL: redis.url });
    subjects.push({
      name,
      server,
      ownKey: scenario.subjects[name].replays ? randomUUID() : undefined,
      sums: new Map(),
    });
  }
  const load = ({ server, ownKey }, count) =>
    send(
      server.url,
      Array.from({ length: count }, () => scenario.request(ownKey)),
      scenario.status,
    );
  for (const subject of subjects) {
    if (subject.ownKey) await load(subject, 1);
    await load(subject, WARM_UP);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of subjects) {
      await subject.server.ask('start profile');
      await load(subject, REQUESTS);
      add(subject.sums, await subject.server.ask('end profile'));
    }
  }
} finally {
  for (const { server } of subjects) server.stop();
  await redis.stop();
}

const micros = time => (time / (ROUNDS * REQUESTS)).toFixed(1);
const total = sums => [...sums.values()].reduce((sum, one) => sum + one, 0);
const parts = [...PARTS.map(([part]) => part), WRITING, COLLECTOR, NATIVE, 'other'];
console.log(`| µs per request | ${names.join(' | ')} |\n|---${'|---'.repeat(names.length)}|`);
for (const part of parts.filter(one => subjects.some(({ sums }) => sums.has(one))))
  console.log(`| ${part} | ${subjects.map(({ sums }) => micros(sums.get(part) ?? 0)).join(' | ')} |`);
console.log(`| together | ${subjects.map(({ sums }) => micros(total(sums))).join(' | ')} |`);
