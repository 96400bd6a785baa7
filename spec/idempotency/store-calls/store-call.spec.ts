import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import express from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { callStore, StoreUnavailable } from '../../../lib/idempotency/store-calls/store-call';
import { send, type WireResponse } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { HookedLeases, type Hooks } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { standStill } from '../../support/stand-still';
import { keyed } from '../../support/replays';

const never = (): Promise<void> => new Promise(() => undefined);
const down = (): never => {
  throw new Error('ECONNREFUSED');
};
const outages: [title: string, outage: () => Promise<void> | never][] = [
  ['down', down],
  ['hanging', never],
];

async function served(options: IdempotencyOptions) {
  const log = new EventLog();
  const state = { runs: 0 };
  const app = express().post(
    '/',
    idempotency({ store: new Keyv(), storeTimeout: 80, onEvent: log.onEvent, ...options }),
    (_req, res) => void res.json({ run: ++state.runs }),
  );
  const { url } = await serve(app);
  return { log, state, post: (key = 'k'): Promise<WireResponse> => send(url, { headers: keyed(key) }) };
}

/** Fails as told, until it is told that all is well. */
function failing(step: keyof Hooks, outage: () => Promise<void>, when: 'before' | 'after' = 'before') {
  let broken = true;
  const hooks: Hooks = { [step]: () => (broken ? outage() : undefined) };
  return {
    leases: when === 'before' ? new HookedLeases(hooks) : new HookedLeases({}, hooks),
    repair: () => {
      broken = false;
    },
  };
}

describe.each(outages)('a lease store that is %s', (_title, outage) => {
  it('while a response is being stored here does not run its duplicate, even if it is configured to run', async () => {
    const { leases, repair } = failing('complete', outage);
    const { state, post } = await served({ leases, whenStoreFails: 'run', whenInFlight: 'reject' });
    expect((await post()).text).toBe('{"run":1}');
    Object.assign(leases, { acquire: outage });
    const duplicate = await post();
    expect([duplicate.status, duplicate.headers['retry-after'], state.runs]).toEqual([409, '1', 1]);
    repair();
  });
});

describe('an answer of the store that is lost', () => {
  it.each(['acquire', 'complete', 'release'] as const)(
    'to %s does no harm: the repeated call is recognised',
    async step => {
      const lost = new Set<string>();
      const leases = new HookedLeases(
        {},
        {
          [step]: (_key: string, token: string) => {
            if (lost.has(token)) return;
            lost.add(token);
            throw new Error('ECONNRESET');
          },
        },
      );
      const { log, state, post } = await served({
        leases,
        storeTimeout: 20_000,
        shouldCache: () => step !== 'release',
      });
      expect((await post()).text).toBe('{"run":1}');
      expect((await post()).text).toBe(step === 'release' ? '{"run":2}' : '{"run":1}');
      expect(state.runs).toBe(step === 'release' ? 2 : 1);
      expect(log.kinds).not.toContain('store-failed');
    },
  );

  it('to acquire, and that comes after the deadline, is released again', async () => {
    const late = signal();
    const released = signal();
    let first = true;
    const leases = new HookedLeases(
      { acquire: () => (first ? late.happened : undefined) },
      {
        release: () => released.happens(),
      },
    );
    const { state, post } = await served({ leases, waitTimeout: 1_000 });
    expect((await post()).status).toBe(503);
    await released.happened;
    first = false;
    late.happens();
    await turn();
    expect((await post()).text).toBe('{"run":1}');
    expect(state.runs).toBe(1);
  });
});

it('a process that stands still for longer than storeTimeout has the answer that has come meanwhile', async () => {
  const leases = new HookedLeases({
    acquire: async () => {
      process.nextTick(standStill, 200);
      await stat(__filename);
    },
  });
  const { log, post } = await served({ leases });
  expect((await post()).text).toBe('{"run":1}');
  expect(log.kinds).not.toContain('store-failed');
});

describe('a call that fails', () => {
  it.each([
    ['thrown', down],
    ['rejected', () => Promise.reject(new Error('ECONNREFUSED'))],
  ])('is made once more, not at once, and its error is told (%s)', async (_how, fail) => {
    const asked: number[] = [];
    const call = (): Promise<never> => {
      asked.push(performance.now());
      return fail();
    };
    await expect(callStore('get()', call, 20_000)).rejects.toThrow(
      new StoreUnavailable('get() failed', undefined, new Error('ECONNREFUSED')).message,
    );
    expect(asked).toHaveLength(2);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(20);
  });
});
