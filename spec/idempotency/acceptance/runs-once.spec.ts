import { setTimeout as pause } from 'node:timers/promises';
import { Keyv } from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, type Run } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { withLeaseThatLasts } from '../../support/lease-that-lasts';
import { SlowMap } from '../../support/slow-map';

/** What has broken in other libraries, and must hold within one process; `processes.spec.ts` has the same among several. */

const slowly = (): Promise<void> => pause(1 + Math.random() * 19);

const stores: [title: string, make: () => IdempotencyOptions][] = [
  ['the default store', () => ({})],
  [
    'a store that takes 1 to 20 ms',
    () => {
      const hooks = { acquire: slowly, renew: slowly, complete: slowly, release: slowly };
      return { store: new Keyv(new SlowMap()), leases: new HookedLeases(hooks, hooks) };
    },
  ],
];

it.each(expressVersions.flatMap(([name, version]) => stores.map(([store, make]) => ({ name, version, store, make }))))(
  'of 20 and of 200 concurrent duplicates on $store exactly one runs, and all get its answer ($name)',
  async ({ make, version }) => {
    const act: Run = async (_req, res, _next, run) => {
      await slowly();
      res.status(201).json({ run });
    };
    const { post, runs } = await guarded(make(), act, { version });
    for (const [at, count] of [20, 200].entries()) {
      const request = { key: String(count), path: '/tickets/7?row=b', body: 'one ticket' };
      const answers = await Promise.all(Array.from({ length: count }, () => post(request)));
      for (const { status, text } of answers) expect([status, text]).toEqual([201, `{"run":${at + 1}}`]);
      expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
      expect(runs()).toBe(at + 1);
    }
  },
);

it.each(stores)(
  'a handler takes five leases on %s, with duplicates all the while: one run',
  (_store, make) =>
    withLeaseThatLasts(async leaseDuration => {
      const state = { isOver: false };
      const { post, log, runs } = await guarded(
        { ...make(), leaseDuration, waitTimeout: 300_000 },
        async (_req, res) => {
          await pause(5 * leaseDuration);
          res.send('done');
          state.isOver = true;
        },
      );
      const answers = [];
      for (; !state.isOver; await pause(leaseDuration / 10)) answers.push(post());
      expect(new Set((await Promise.all(answers)).map(({ text }) => text))).toEqual(new Set(['done']));
      // 50 on a machine that does nothing else.
      expect(answers.length).toBeGreaterThan(5);
      return { runs: runs(), losses: log.kinds.filter(kind => kind === 'lease-lost').length };
    }),
  400_000,
);

it.each(stores)('the cacheDuration ends under load on %s: one run in each period', async (_store, make) => {
  const period = 150;
  const starts: number[] = [];
  const { post } = await guarded({ ...make(), cacheDuration: period }, async (_req, res) => {
    const run = starts.push(performance.now());
    await pause(10);
    res.json({ run });
  });
  const isOver = (): boolean => starts.length > 3;
  const load = Array.from({ length: 10 }, async () => {
    const seen: string[] = [];
    while (!isOver()) seen.push((await post()).text);
    return seen;
  });
  const seen = await Promise.all(load);
  expect(new Set(seen.flat()).size).toBe(starts.length);
  for (const [index, at] of starts.slice(1).entries()) expect(at - (starts[index] ?? 0)).toBeGreaterThanOrEqual(period);
  // No client ever sees an earlier run after a later one.
  for (const one of seen) expect(one).toEqual([...one].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)));
});
