import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { idempotency, memoryLeases, type LeaseStore } from '../../../lib';
import type { Acquisition } from '../../../lib/idempotency/leases/lease-store';
import { joinWaiters } from '../../../lib/idempotency/leases/waiting';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

/**
 * Leases in memory whose questions are counted. `chatty`: they notify of each question. `silent`: of nothing, as Redis
 * does not notify of the end of a lease.
 */
class ControlledLeases implements LeaseStore {
  readonly questions: string[] = [];
  watching = 0;
  readonly watch: LeaseStore['watch'];
  private readonly leases = memoryLeases();
  private onChange = (): void => undefined;

  constructor({ watch }: { readonly watch?: 'none' | 'chatty' | 'silent' } = {}) {
    if (watch === 'none') return;
    this.watch = (key, onChange) => {
      if (watch === 'chatty') this.onChange = onChange;
      return this.listen(key, watch === 'silent' ? () => undefined : onChange);
    };
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    this.questions.push(token);
    this.onChange();
    return this.leases.acquire(key, token, ms);
  }
  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return this.leases.renew(key, token, ms);
  }
  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return this.leases.complete(key, token, ms);
  }
  async release(key: string, token: string): Promise<boolean> {
    return this.leases.release(key, token);
  }

  private async listen(key: string, onChange: () => void): Promise<() => void> {
    const stop = await this.leases.watch?.(key, onChange);
    this.watching++;
    return () => {
      this.watching--;
      stop?.();
    };
  }
}

const LONG = 60_000;

interface Waiting {
  readonly ms?: number;
  readonly isGone?: () => boolean;
  readonly ask?: () => Promise<Acquisition>;
}

/** A request that waits for the key `k`, for a minute unless another time is given. */
async function waitFor(
  leases: LeaseStore,
  token: string,
  { ms = LONG, isGone = () => false, ask = async () => leases.acquire('k', token, LONG) }: Waiting = {},
): Promise<Acquisition | 'gone'> {
  const deadline = performance.now() + ms;
  const waiters = joinWaiters('k', leases);
  let seen = waiters.changes;
  try {
    let answer: Acquisition = { kind: 'running', token: '', msLeft: LONG };
    while (answer.kind === 'running' && performance.now() < deadline) {
      await waiters.next(seen, deadline - performance.now(), isGone);
      if (isGone()) return 'gone';
      seen = waiters.changes;
      answer = await ask();
    }
    if (answer.kind === 'done') waiters.changed();
    return answer;
  } finally {
    waiters.leave();
  }
}

/**
 * Resolves as the work does.
 * @throws Error after this time. A machine that stands still delays the timers of the work, too, so it makes no spec fail.
 */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const end = new AbortController();
  const late = pause(ms, undefined, end).then(() => {
    throw new Error(`It took ${ms} ms`);
  });
  return Promise.race([work, late]).finally(() => {
    end.abort();
  });
}

describe('requests that wait for one key', () => {
  it('are notified at once of a change', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const waiting = ['a', 'b'].map(token => waitFor(leases, token));
    // Without a turn of the event loop, in which a poll could be due after the process stood still.
    for (let count = 0; count < 100; count++) await undefined;
    const answers = within(900, Promise.all(waiting));
    await leases.complete('k', 'runs', LONG);
    expect(await answers).toEqual(Array(2).fill({ kind: 'done', token: 'runs' }));
    expect(leases.questions).toEqual(['runs', 'a', 'b']);
  });

  it('poll ten times a second together, and wake the others when the run is done', async () => {
    const leases = new ControlledLeases({ watch: 'none' });
    await leases.acquire('k', 'runs', LONG);
    const waiting = Array.from({ length: 100 }, (_, index) => waitFor(leases, `${index}`));
    const begun = performance.now();
    while (leases.questions.length < 5) await pause(10);
    const polls = leases.questions.length - 1;
    expect((performance.now() - begun) / polls).toBeGreaterThan(90);
    await leases.complete('k', 'runs', LONG);
    const answers = await within(1_000, Promise.all(waiting));
    expect(answers).toEqual(waiting.map(() => ({ kind: 'done', token: 'runs' })));
  });

  it('ask when the lease has expired, and at their deadlines', async () => {
    let begun: number;
    // A machine that is busy elsewhere can delay a try, but not every one.
    do {
      const leases = new ControlledLeases({ watch: 'silent' });
      await leases.acquire('k', 'runs', 300);
      begun = performance.now();
      const ask = async (): Promise<Acquisition> => ({ kind: 'running', token: 'runs', msLeft: LONG });
      const [first, second] = [waitFor(leases, 'a', { ms: 200, ask }), waitFor(leases, 'b')];
      expect(await first).toMatchObject({ kind: 'running' });
      expect(performance.now() - begun).toBeGreaterThan(199);
      expect(await second).toEqual({ kind: 'acquired' });
    } while (performance.now() - begun > 900);
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
    setTimeout(() => done.happens(), 50);
    expect([(await first).text, (await second).text, runs]).toEqual(['done', 'done', 1]);
  });
});
