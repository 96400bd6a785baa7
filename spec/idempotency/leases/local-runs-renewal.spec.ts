import { setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import Keyv from 'keyv';
import {
  idempotency,
  memoryLeases,
  type IdempotencyOptions,
  type LeaseStore,
  type RequestIdempotency,
} from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { HookedLeases } from '../../support/hooked-leases';
import { onAbort } from '../../support/on-abort';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { SlowMap } from '../../support/slow-map';
import { standStill } from '../../support/stand-still';
import { keyed, visible, visibleReplay } from '../../support/replays';

async function served(options: IdempotencyOptions, handler: (run: number) => RequestHandler) {
  const log = new EventLog();
  const state = { runs: 0 };
  const app = express().post('/', idempotency({ onEvent: log.onEvent, ...options }), (req, res, next) =>
    handler(++state.runs)(req, res, next),
  );
  const { url } = await serve(app);
  return { log, state, post: (): Promise<WireResponse> => send(url, { headers: keyed('k') }) };
}

describe('a lease', () => {
  it('is renewed while the handler runs: five leases with duplicates all the while are one run', async () => {
    const leaseDuration = 200;
    const { log, state, post } = await served({ leaseDuration }, run => async (_req, res) => {
      await pause(5 * leaseDuration);
      res.json({ run });
    });
    const begun = performance.now();
    const answers: Promise<WireResponse>[] = [];
    while (performance.now() - begun < 5 * leaseDuration) {
      answers.push(post());
      await pause(25);
    }
    expect(new Set((await Promise.all(answers)).map(({ text }) => text))).toEqual(new Set(['{"run":1}']));
    expect(state.runs).toBe(1);
    expect(log.kinds).not.toContain('lease-lost');
  });

  it('outlives single renewals that fail', async () => {
    const leaseDuration = 3_000;
    const renewedOften = async (): Promise<{ kinds: unknown; ms: number }> => {
      let asked = 0;
      const often = signal();
      const leases = new HookedLeases({
        renew: () => {
          if (++asked === 6) often.happens();
          if (asked % 3 !== 0) throw new Error('The connection was reset');
        },
      });
      const { log, state, post } = await served({ leases, leaseDuration }, run => async (_req, res) => {
        await often.happened;
        res.json({ run });
      });
      const begun = performance.now();
      const texts = (await Promise.all([post(), post()])).map(({ text }) => text);
      return { kinds: [...texts, state.runs, log.kinds.includes('lease-lost')], ms: performance.now() - begun };
    };
    let renewed = await renewedOften();
    // It takes four thirds of a lease. On a machine that stands still for another, a renewal that fails is the last one.
    while (renewed.ms >= (5 / 3) * leaseDuration - 100) renewed = await renewedOften();
    expect(renewed.kinds).toEqual(['{"run":1}', '{"run":1}', 1, false]);
  });

  it('is not renewed once the response is stored', async () => {
    let renewed = 0;
    const leases = new HookedLeases({
      renew: () => {
        renewed++;
      },
    });
    const { post } = await served({ leases, leaseDuration: 30 }, () => (_req, res) => {
      res.end();
    });
    await post();
    await pause(60);
    expect(renewed).toBe(0);
  });

  it('that cannot be renewed for as long as it lasts aborts the signal of its handler', async () => {
    const leases = new HookedLeases({
      renew: () => {
        throw new Error('The store is down');
      },
    });
    const { log, post } = await served({ leases, leaseDuration: 60, storeTimeout: 30 }, () => (req, res) => {
      const { signal } = req.idempotency;
      onAbort(signal, () => res.send((signal.reason as Error).message));
    });
    expect((await post()).text).toBe('The idempotency lease was lost: another request may run the handler.');
    expect(log.kinds[0]).toBe('lease-lost');
  });

  it('that expired while the process stood still aborts the signal before another request of the process runs', async () => {
    const waits = signal();
    let asked = 0;
    const leases = new HookedLeases(
      { renew: () => new Promise(() => undefined) },
      {
        acquire: () => {
          if (++asked === 2) waits.happens();
        },
      },
    );
    const { log, post } = await served({ leases, leaseDuration: 60 }, run => async (_req, res) => {
      if (run === 1) {
        await waits.happened;
        await new Promise(setImmediate);
        standStill(100);
        await new Promise(() => undefined);
      }
      res.json(log.kinds);
    });
    post().catch(() => undefined);
    expect((await post()).text).toBe('["lease-lost"]');
  });
});

/** Takes the lease away from its owner, as an event loop that stands still for longer than the lease does. */
async function takeAway(leases: LeaseStore, { cacheKey }: RequestIdempotency): Promise<void> {
  const held = await leases.acquire(cacheKey, 'probe', 1);
  if (held.kind !== 'running') throw new Error('The lease is not held');
  await leases.release(cacheKey, held.token);
}

describe('a handler whose lease was taken by another request', () => {
  it.each<[string, (res: express.Response, run: number) => void]>([
    [
      'that has not begun to answer is cut off, and the retry gets the answer of the other',
      (res, run) => {
        res
          .status(200 + run)
          .set('X-Run', String(run))
          .json({ run });
      },
    ],
    [
      'that has sent its head already is cut off',
      (res, run) => {
        res.write(`run ${run}`);
        res.end();
      },
    ],
  ])('%s, and only one result is ever published', async (_title, answer) => {
    const leases = memoryLeases();
    const running = signal<RequestIdempotency>();
    const lost = signal();
    const mayAnswer = signal();
    const { log, state, post } = await served(
      { store: new Keyv(), leases, leaseDuration: 90 },
      run => async (req, res) => {
        if (run === 1) {
          onAbort(req.idempotency.signal, lost.happens);
          running.happens(req.idempotency);
          await mayAnswer.happened;
        }
        answer(res, run);
      },
    );
    const first = post().catch(() => 'cut off' as const);
    await takeAway(leases, await running.happened);
    const second = await post();
    await lost.happened;
    mayAnswer.happens();

    expect(await first).toBe('cut off');
    expect(visibleReplay(await post())).toEqual(visible(second));
    expect(state.runs).toBe(2);
    expect(log.kinds.filter(kind => kind === 'executed')).toHaveLength(1);
    expect(log.kinds.filter(kind => kind === 'lease-lost')).toHaveLength(1);
  });

  it('whose lease has expired but is still free publishes its result', async () => {
    const leases = memoryLeases();
    const running = signal<RequestIdempotency>();
    const lost = signal();
    const { state, post } = await served({ store: new Keyv(), leases, leaseDuration: 60 }, run => async (req, res) => {
      onAbort(req.idempotency.signal, lost.happens);
      running.happens(req.idempotency);
      await lost.happened;
      res.json({ run });
    });
    const first = post();
    await takeAway(leases, await running.happened);
    expect((await first).text).toBe('{"run":1}');
    expect((await post()).text).toBe('{"run":1}');
    expect(state.runs).toBe(1);
  });
});

describe('cacheDuration', () => {
  it.each([
    ['at once', 0],
    ['in 40 ms', 40],
  ])(
    'ends under load with one run for each duration and never a 409, on a store that writes %s',
    async (_title, ms) => {
      let concurrent = 0;
      let most = 0;
      const cacheDuration = 200;
      const { log, state, post } = await served(
        { cacheDuration, store: new Keyv({ store: new SlowMap(() => ms) }) },
        run => async (_req, res) => {
          most = Math.max(most, ++concurrent);
          await pause(5);
          concurrent--;
          res.json({ run });
        },
      );
      const begun = performance.now();
      const answers: Promise<WireResponse>[] = [];
      while (performance.now() - begun < 5 * cacheDuration || state.runs < 2) {
        answers.push(post());
        await pause(2);
      }
      const statuses = new Set((await Promise.all(answers)).map(({ status }) => status));
      expect(statuses).toEqual(new Set([200]));
      expect(most).toBe(1);
      expect(state.runs).toBeLessThanOrEqual(1 + (performance.now() - begun) / cacheDuration);
      expect(log.kinds.filter(kind => kind === 'executed')).toHaveLength(state.runs);
    },
  );
});
