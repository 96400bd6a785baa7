import { randomUUID } from 'node:crypto';
import { send } from './load.mjs';
import { PinnedServer } from './pinned-server.mjs';

/** Requests that a server answers before it is measured: until about that many, V8 goes on compiling. */
export const WARM_UP = 30_000;

export const median = numbers => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const p99 = latencies => latencies.toSorted((a, b) => a - b)[Math.floor(0.99 * latencies.length)];

/** @returns the CPU time of a request in microseconds, and the latency that one in a hundred exceeds, in milliseconds. */
async function measure(server, { request, status }, count, key) {
  const all = Array.from({ length: count }, () => request(key));
  const before = await server.micros();
  const latencies = await send(server.url, all, status);
  return { micros: ((await server.micros()) - before) / count, p99: p99(latencies) };
}

/**
 * Measures a subject between two measurements of the bare handler of its scenario, in rounds.
 * @returns for each round the CPU time and the latency as ratios, and the CPU time of the bare handler.
 */
export async function compare(scenario, name, { requests, rounds, warmUp = WARM_UP, env }) {
  const { replays } = scenario.subjects[name];
  const key = replays ? randomUUID() : undefined;
  const [bare, subject] = [
    await PinnedServer.start(scenario.key, 'bare', env),
    await PinnedServer.start(scenario.key, name, env),
  ];
  try {
    await measure(bare, scenario, warmUp);
    if (key) await measure(subject, scenario, 1, key);
    await measure(subject, scenario, warmUp, key);
    const results = [];
    for (let round = 0; round < rounds; round++) {
      const [before, own, after] = [
        await measure(bare, scenario, requests),
        await measure(subject, scenario, requests, key),
        await measure(bare, scenario, requests),
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
