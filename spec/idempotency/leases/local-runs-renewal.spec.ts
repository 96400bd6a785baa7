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
import { standStill } from '../../support/stand-still';
import { keyed } from '../../support/replays';

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
    const { log, post } = await served({ leases, leaseDuration: 400 }, run => async (_req, res) => {
      if (run === 1) {
        await waits.happened;
        await new Promise(setImmediate);
        standStill(500);
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

describe('a handler', () => {
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
