import express from 'express';
import { idempotency, memoryLeases, type LeaseStore } from '../../../lib';
import { watchForChange } from '../../../lib/idempotency/leases/change-watch';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

/** A store in which somebody always has the lease. */
class TakenLeases implements LeaseStore {
  readonly asked: number[] = [];
  constructor(private readonly msLeft: number) {}
  acquire(_key: string, token: string) {
    this.asked.push(performance.now());
    return { kind: 'running', token: `${token.split('.')[0]}.another`, msLeft: this.msLeft } as const;
  }

  renew(): boolean {
    return false;
  }
  complete(): boolean {
    return false;
  }
  release(): boolean {
    return false;
  }
}

describe('a duplicate that waits', () => {
  it.each([0, -1, -2, 0.5, 3, NaN, -Infinity])(
    'for a lease with %p ms left asks again after 25 ms at the earliest, and then gets its 409',
    async msLeft => {
      const leases = new TakenLeases(msLeft);
      const { url } = await serve(
        express().post('/', idempotency({ leases, waitTimeout: 300 }), (_req, res) => {
          res.end();
        }),
      );
      const { status, headers } = await send(url, { headers: keyed('k') });
      expect([status, headers['retry-after']]).toEqual([409, '1']);
      const pauses = leases.asked.slice(1).map((at, index) => at - (leases.asked[index] ?? 0));
      expect(pauses.length).toBeGreaterThan(0);
      // A timer of node may be early by part of a millisecond.
      expect(Math.min(...pauses)).toBeGreaterThan(24);
    },
  );

  it('is still notified at once of a change', async () => {
    const told = signal<() => void>();
    const leases = Object.assign(new TakenLeases(0), {
      watch: (_key: string, onChange: () => void) => {
        told.happens(onChange);
        return Promise.resolve(() => undefined);
      },
    });
    const change = watchForChange('k', leases);
    await change.next(60_000);
    const next = change.next(60_000);
    const onChange = await told.happened;
    const begun = performance.now();
    onChange();
    await next;
    expect(performance.now() - begun).toBeLessThan(20_000);
    change.stop();
  });
});

describe('a duplicate whose store fails to notify', () => {
  const failures: [how: string, watch: unknown][] = [
    [
      'throws',
      () => {
        throw new Error('not now');
      },
    ],
    ['returns no promise', () => () => undefined],
    ['returns nothing', () => undefined],
    [
      'has a stop function that throws',
      () =>
        Promise.resolve(() => {
          throw new Error('not now');
        }),
    ],
    ['has a stop function that rejects', () => Promise.resolve(() => Promise.reject(new Error('not now')))],
  ];

  it.each(failures)('polls, and gets its answer: the store %s', async (_how, watch) => {
    const leases: LeaseStore = Object.assign(memoryLeases(), { watch: watch as NonNullable<LeaseStore['watch']> });
    const running = signal();
    const done = signal();
    let runs = 0;
    const { url } = await serve(
      express().post('/', idempotency({ leases }), async (_req, res) => {
        runs++;
        running.happens();
        await done.happened;
        res.send('done');
      }),
    );
    const first = send(url, { headers: keyed('k') });
    await running.happened;
    const second = send(url, { headers: keyed('k') });
    setTimeout(() => {
      done.happens();
    }, 50);
    expect([(await first).text, (await second).text, runs]).toEqual(['done', 'done', 1]);
  });
});
