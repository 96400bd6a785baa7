import { setTimeout as pause } from 'node:timers/promises';
import { memoryLeases, type LeaseStore } from '../../../lib';
import { guarded } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { signal } from '../../support/signal';

/** Requests of one key, all but the first of which wait, and how often the leases were asked. */
async function waiting(leases: LeaseStore, count: number) {
  const [running, mayEnd] = [signal(), signal()];
  const state = { asked: 0 };
  const { acquire } = leases;
  leases.acquire = (...given) => Reflect.apply(acquire, leases, (state.asked++, given));
  const { post, runs } = await guarded({ leases }, async (_req, res) => {
    running.happens();
    await mayEnd.happened;
    res.send('done');
  });
  const answers = [post()];
  await running.happened;
  for (let more = 1; more < count; more++) answers.push(post());
  while (state.asked < count) await new Promise(setImmediate);
  /** Lets the first end. @returns the different answers of all, and how often the handler ran. */
  const end = async () => {
    mayEnd.happens();
    return [...new Set((await Promise.all(answers)).map(({ text }) => text)), runs()];
  };
  return { state, end };
}

it('requests that wait for one key poll ten times a second together, where the store does not notify', async () => {
  const begun = performance.now();
  const { state, end } = await waiting(new HookedLeases(), 100);
  while (state.asked < 110) await pause(10);
  expect((performance.now() - begun) / (state.asked - 100)).toBeGreaterThan(90);
  expect(await end()).toEqual(['done', 1]);
});

it('requests that wait for one key are woken by what the store notifies, without a poll', async () => {
  const polls = jest.spyOn(global, 'setInterval').mockImplementation(() => setTimeout(() => undefined, 0) as never);
  const { state, end } = await waiting(memoryLeases(), 10);
  polls.mockRestore();
  expect([await end(), state.asked > 10]).toEqual([['done', 1], true]);
});

const fails = (): never => {
  throw new Error('not now');
};
it.each<[how: string, watch: unknown]>([
  ['throws', fails],
  ['returns no promise', () => () => undefined],
  ['returns nothing', () => undefined],
  ['has a stop function that throws', () => Promise.resolve(fails)],
  ['has a stop function that rejects', () => Promise.resolve(() => Promise.reject(new Error('not now')))],
])('a duplicate whose store fails to notify polls, and gets its answer: watch() %s', async (_how, watch) => {
  const leases = Object.assign(memoryLeases(), { watch: watch as NonNullable<LeaseStore['watch']> });
  const { state, end } = await waiting(leases, 2);
  while (state.asked < 3) await pause(10);
  expect(await end()).toEqual(['done', 1]);
});
