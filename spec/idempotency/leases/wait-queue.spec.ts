import express from 'express';
import { idempotency, memoryLeases, type LeaseStore } from '../../../lib';
import type { Acquisition } from '../../../lib/idempotency/leases/lease-store';
import { waitInQueue, type Answer } from '../../../lib/idempotency/leases/wait-queue';
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
});

/** Leases whose answers wait until they are let go; `watch` is theirs, or tells of each question. */
class ControlledLeases implements LeaseStore {
  readonly questions: string[] = [];
  private readonly leases = memoryLeases();
  private gate: Promise<void> | undefined;

  constructor(private readonly notifiesOfQuestions = false) {}

  /** @returns a function that lets the answers go. */
  hold(): () => void {
    const open = signal();
    this.gate = open.happened;
    return () => {
      this.gate = undefined;
      open.happens();
    };
  }

  private onChange = (): void => undefined;

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    this.questions.push(token);
    if (this.notifiesOfQuestions) this.onChange();
    const answer = await this.leases.acquire(key, token, ms);
    await this.gate;
    return answer;
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
  async watch(key: string, onChange: () => void): Promise<() => void> {
    this.onChange = onChange;
    return this.leases.watch?.(key, onChange) ?? ((): void => undefined);
  }
}

const LONG = 60_000;

/** A request that waits for the key `k`, for a minute unless another time is given. */
function waitFor(leases: LeaseStore, token: string, ms = LONG): Promise<Answer> {
  const deadline = performance.now() + ms;
  const ask = async (): Promise<Answer> => {
    const answer = await leases.acquire('k', token, LONG);
    return answer.kind === 'acquired' ? { kind: 'acquired', asked: performance.now() } : answer;
  };
  const waitsAfter = ({ kind }: Answer): boolean => kind === 'running' && performance.now() < deadline;
  return waitInQueue('k', leases, { deadline, ask, waitsAfter }, LONG);
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

describe('requests that wait for one key', () => {
  it('ask once for all, and get one answer', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const waiting = Array.from({ length: 100 }, (_, index) => waitFor(leases, `${index}`));
    await turns(5);
    await leases.complete('k', 'runs', LONG);
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ kind: 'done', token: 'runs' })));
    // Once when the queue has begun to listen, and once after the change.
    expect(leases.questions).toEqual(['runs', '0', '0']);
  });

  it('take over one after the other, in the order in which they came', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const order: string[] = [];
    const waiting = ['a', 'b', 'c'].map(async token => {
      expect((await waitFor(leases, token)).kind).toBe('acquired');
      order.push(token);
      await leases.release('k', token);
    });
    await turns(5);
    await leases.release('k', 'runs');
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('that come while an answer is under way, which is older than theirs, get one of their own at once', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const letGo = leases.hold();
    const first = waitFor(leases, 'a');
    await turns(5);
    const second = waitFor(leases, 'b');
    await leases.complete('k', 'runs', LONG);
    const begun = performance.now();
    letGo();
    expect(await Promise.all([first, second])).toEqual(Array(2).fill({ kind: 'done', token: 'runs' }));
    expect(performance.now() - begun).toBeLessThan(900);
  });

  it('leave at their deadlines', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const longer = waitFor(leases, 'a');
    await turns(5);
    const begun = performance.now();
    expect((await waitFor(leases, 'b', 200)).kind).toBe('running');
    expect(performance.now() - begun).toBeGreaterThan(199);
    expect(performance.now() - begun).toBeLessThan(900);
    await leases.release('k', 'runs');
    expect((await longer).kind).toBe('acquired');
  });

  it('fail together with the question', async () => {
    const leases = new ControlledLeases();
    const fails = (): Promise<Answer> => Promise.reject(new Error('no store'));
    const waiter = { deadline: Infinity, ask: fails, waitsAfter: () => true };
    const waiting = [1, 2, 3].map(() => waitInQueue('k', leases, waiter, LONG));
    for (const one of waiting) await expect(one).rejects.toThrow('no store');
  });

  it('do not keep the process busy if their store notifies of each question', async () => {
    const leases = new ControlledLeases(true);
    await leases.acquire('k', 'runs', LONG);
    expect((await waitFor(leases, 'a', 500)).kind).toBe('running');
    expect(leases.questions.length).toBeLessThan(25);
  });

  it('are notified at once of a change, however short the lease', async () => {
    const leases = new ControlledLeases();
    await leases.acquire('k', 'runs', LONG);
    const waiting = waitFor(leases, 'a');
    await turns(5);
    const begun = performance.now();
    await leases.release('k', 'runs');
    expect((await waiting).kind).toBe('acquired');
    expect(performance.now() - begun).toBeLessThan(900);
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
