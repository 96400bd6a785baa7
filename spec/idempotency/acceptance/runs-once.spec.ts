import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { withLeaseThatLasts } from '../../support/lease-that-lasts';
import { serve } from '../../support/serve';
import { SlowMap } from '../../support/slow-map';
import { keyed } from '../../support/replays';

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

const rows = expressVersions.flatMap(([version, make]) =>
  stores.flatMap(([store, options]) => [20, 200].map(count => ({ version, make, store, options, count }))),
);

it.each(rows)(
  'of $count concurrent duplicates on $store exactly one runs, and all get its answer ($version)',
  async ({ make, options, count }) => {
    let runs = 0;
    const { url } = await serve(
      make().post('/tickets/:seat', idempotency(options()), async (req, res) => {
        const run = ++runs;
        await slowly();
        res.status(201).json({ seat: req.params['seat'], run });
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: count }, () =>
        send(`${url}/tickets/7?row=b`, { headers: keyed('k', { 'Content-Type': 'text/plain' }), body: 'one ticket' }),
      ),
    );
    expect(runs).toBe(1);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['201 {"seat":"7","run":1}']),
    );
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  },
);

it.each(stores)(
  'a handler takes five leases on %s, with duplicates all the while: one run',
  (_store, make) =>
    withLeaseThatLasts(async leaseDuration => {
      let runs = 0;
      let over = false;
      const log = new EventLog();
      const options = { ...make(), leaseDuration, waitTimeout: 300_000, onEvent: log.onEvent };
      const { url } = await serve(
        express().put('/', idempotency(options), async (_req, res) => {
          runs++;
          await pause(5 * leaseDuration);
          res.send('done');
          over = true;
        }),
      );
      const isOver = (): boolean => over;
      const answers = [];
      for (; !isOver(); await pause(leaseDuration / 10))
        answers.push(send(url, { method: 'PUT', headers: keyed('k') }));
      expect(new Set((await Promise.all(answers)).map(({ text }) => text))).toEqual(new Set(['done']));
      // 50 on a machine that does nothing else.
      expect(answers.length).toBeGreaterThan(5);
      return { runs, losses: log.kinds.filter(kind => kind === 'lease-lost').length };
    }),
  400_000,
);

it.each(stores)('the cacheDuration ends under load on %s: one run in each period', async (_store, make) => {
  const period = 150;
  const starts: number[] = [];
  const { url } = await serve(
    express().post('/', idempotency({ ...make(), cacheDuration: period }), async (_req, res) => {
      const run = starts.push(performance.now());
      await pause(10);
      res.json({ run });
    }),
  );
  const isOver = (): boolean => starts.length > 3;
  const load = Array.from({ length: 10 }, async () => {
    const seen: string[] = [];
    while (!isOver()) seen.push((await send(url, { headers: keyed('k') })).text);
    return seen;
  });
  const seen = await Promise.all(load);
  expect(new Set(seen.flat()).size).toBe(starts.length);
  for (const [index, at] of starts.entries())
    if (index > 0) expect(at - (starts[index - 1] ?? 0)).toBeGreaterThanOrEqual(period);
  // No client ever sees an earlier run after a later one.
  for (const one of seen) expect(one).toEqual([...one].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)));
});
