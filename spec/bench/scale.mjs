/**
 * What large bodies, large responses and many keys cost: CPU time of the server process, as a ratio to the
 * first subject of a table, and by how much its memory grows at most. In rounds, in which the subjects take turns; medians.
 * `node scale.mjs [part of a table's title]`
 */
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '@keyv/redis';
import { RedisServer } from '../faults/dist/support/servers/redis-server.js';
import { median } from './requests/compare.mjs';

const script = fileURLToPath(new URL('scale/server.mjs', import.meta.url));
const MB = 1_000_000;

class Server {
  #child;
  url;

  static async start(subject, env) {
    const server = new Server();
    server.#child = fork(script, [subject], { env: { ...process.env, ...env } });
    const [{ port }] = await once(server.#child, 'message');
    server.url = `http://127.0.0.1:${port}`;
    return server;
  }

  /** The CPU time that the process has taken until now, and its most memory since the last question. */
  async state() {
    this.#child.send('state');
    const [state] = await once(this.#child, 'message');
    return state;
  }

  stop() {
    this.#child.disconnect();
  }
}

const sockets = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Sends a request whose body is made as it is sent, and reads the whole answer. */
async function send(url, headers, pieces) {
  const sent = request(url, {
    method: 'POST',
    agent: sockets,
    headers: { 'Idempotency-Key': randomUUID(), ...headers },
  });
  const [[response]] = await Promise.all([once(sent, 'response'), pipeline(Readable.from(pieces), sent)]);
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if (response.statusCode >= 300) throw new Error(`${url} answered ${response.statusCode}`);
  return bytes;
}

const noise = randomBytes(65_536);

function* form(bytes) {
  yield '--b1\r\nContent-Disposition: form-data; name="files"; filename="video"\r\n\r\n';
  for (let sent = 0; sent < bytes; sent += noise.length) yield noise.subarray(0, bytes - sent);
  yield '\r\n--b1--\r\n';
}

const upload = bytes => server => send(server.url, { 'Content-Type': 'multipart/form-data; boundary=b1' }, form(bytes));

const download = bytes => server => send(`${server.url}/?bytes=${bytes}`, { 'Content-Length': '0' }, []);

const many = (count, ask) => Promise.all(Array.from({ length: count }, ask));
const short = { 'Content-Type': 'application/json', 'Content-Length': '2' };

async function inTurns(server, count) {
  for (let sent = 0; sent < count; sent += 100) await many(100, () => send(server.url, short, ['{}']));
}

/** Sets the leases and the responses of so many keys, of the size and with the lifetime of real ones. */
async function fill(redis, keys) {
  const client = createClient({ url: redis.url });
  await client.connect();
  for (let from = 0; from < keys; from += 5_000) {
    const pipeline = client.multi();
    for (let index = from; index < from + 5_000; index++) {
      const key = String(index).padStart(64, 'f');
      pipeline.set(`keyv:bindonce:1::lease:${key}`, `d:any.${randomUUID()}`, { PX: 3_600_000 });
      pipeline.set(`keyv:${key}`, 'x'.repeat(300), { PX: 3_600_000 });
    }
    await pipeline.execAsPipeline();
  }
  client.destroy();
}

const empty = await RedisServer.start();
const full = await RedisServer.start();

/**
 * - `server`: the subject of the server, if it has another name here; `env`: its environment.
 * - `work`: what is measured; `warmUp`: what comes before.
 */
const tables = [
  {
    title: 'an upload of 1 GB to disk',
    rounds: 3,
    warmUp: upload(50 * MB),
    work: upload(1_000 * MB),
    subjects: { 'multer alone': {}, 'bindRequest()': {}, 'idempotency() and bindRequest()': {} },
  },
  {
    title: 'a response of 1 GB',
    rounds: 5,
    warmUp: download(50 * MB),
    work: download(1_000 * MB),
    subjects: { 'a bare stream': {}, 'a stream behind idempotency()': {} },
  },
  {
    title: '2,000 first requests, keys in memory',
    rounds: 15,
    warmUp: server => inTurns(server, 5_000),
    work: server => inTurns(server, 2_000),
    subjects: {
      'few keys': { server: 'in memory' },
      '100,000 keys': { server: 'in memory', warmUp: server => inTurns(server, 100_000) },
    },
  },
  {
    title: '2,000 first requests, keys in Redis',
    rounds: 15,
    warmUp: server => inTurns(server, 5_000),
    work: server => inTurns(server, 2_000),
    subjects: {
      'few keys': { server: 'on Redis', env: { REDIS_URL: empty.url } },
      '1,000,000 keys': {
        server: 'on Redis',
        env: { REDIS_URL: full.url },
        warmUp: async server => {
          await fill(full, 1_000_000);
          await inTurns(server, 5_000);
        },
      },
    },
  },
];

for (const { title, rounds, subjects, ...all } of tables) {
  if (!title.includes(process.argv[2] ?? '')) continue;
  const runs = [];
  for (const [name, own] of Object.entries(subjects)) {
    const { work, warmUp } = { ...all, ...own };
    const server = await Server.start(own.server ?? name, own.env);
    await warmUp(server);
    runs.push({ name, work, server, times: [], growth: 0 });
  }
  for (let round = 0; round < rounds; round++)
    for (const run of runs) {
      const before = await run.server.state();
      await run.work(run.server);
      const after = await run.server.state();
      run.times.push(after.micros - before.micros);
      run.growth = Math.max(run.growth, after.peak - before.peak);
    }
  console.log(`\n| ${title} | CPU time | from, to | memory |\n|---|---|---|---|`);
  for (const { name, times, growth, server } of runs) {
    const ratios = times.map((time, round) => time / runs[0].times[round]);
    const figure = times === runs[0].times ? `1 (${(median(times) / MB).toFixed(2)} s)` : median(ratios).toFixed(2);
    const range = `${Math.min(...ratios).toFixed(2)}, ${Math.max(...ratios).toFixed(2)}`;
    console.log(`| ${name} | ${figure} | ${range} | ${growth > 0 ? '+' : ''}${(growth / MB).toFixed(0)} MB |`);
    server.stop();
  }
}

await Promise.all([empty.stop(), full.stop()]);
sockets.destroy();
