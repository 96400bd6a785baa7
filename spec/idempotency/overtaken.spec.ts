import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { EventLog } from '../support/event-log';
import { HookedLeases, type Hooks } from '../support/hooked-leases';
import { onAbort } from '../support/on-abort';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

const LEASE = 150;
const never = (): Promise<void> => new Promise(() => undefined);

interface Overtaken {
  readonly first: Promise<WireResponse>;
  readonly second: WireResponse;
  readonly log: EventLog;
  readonly aborted: readonly string[];
  readonly end: () => void;
  readonly retry: () => Promise<WireResponse>;
}

/** A request whose renewals are lost, so that a second one runs while the first still does; the first ends when it is told to. */
async function overtaken(end: RequestHandler, options: IdempotencyOptions = {}, hooks: Hooks = {}): Promise<Overtaken> {
  const log = new EventLog();
  const [begun, mayEnd] = [signal(), signal()];
  let runs = 0;
  const aborted: string[] = [];
  const leases = new HookedLeases({ renew: never, ...hooks });
  const { url } = await serve(
    express().post(
      '/',
      idempotency({ leases, leaseDuration: LEASE, storeTimeout: 100, onEvent: log.onEvent, ...options }),
      (req, res, next) => {
        const run = ++runs;
        onAbort(req.idempotency.signal, () => {
          aborted.push(`run ${run}`);
        });
        if (run > 1) {
          res.status(201).json({ run });
          return;
        }
        begun.happens();
        void mayEnd.happened.then(() => end(req, res, next));
      },
    ),
  );
  const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
  const asked = performance.now();
  const first = post();
  await begun.happened;
  // On a machine that stands still for a lease before the handler begins, the second run is as early as its end.
  if (performance.now() - asked >= LEASE) {
    first.catch(() => undefined);
    return overtaken(end, options, hooks);
  }
  const second = await post();
  return {
    first,
    second,
    log,
    aborted,
    end: () => mayEnd.happens(),
    retry: post,
  };
}

describe('a run whose lease was lost to another', () => {
  it('has its signal aborted by then, however long a renewal is on its way', async () => {
    const { first, second, aborted, end } = await overtaken((_req, res) => void res.json({ run: 1 }));
    expect(second.text).toBe('{"run":2}');
    expect(aborted).toContain('run 1');
    end();
    await expect(first).rejects.toThrow();
  });

  it.each<[string, RequestHandler, IdempotencyOptions]>([
    ['would be stored', (_req, res) => void res.json({ run: 1 }), {}],
    [
      'has begun',
      (_req, res) => {
        res.write('run 1');
        res.end();
      },
      {},
    ],
    [
      'was to be forgotten',
      (req, res) => {
        req.idempotency.forget();
        res.status(500).json({ run: 1 });
      },
      {},
    ],
    [
      'is not wanted by shouldCache',
      (_req, res) => void res.status(500).json({ run: 1 }),
      { shouldCache: ({ status }) => status < 500 },
    ],
  ])(
    'has its connection closed when its own response %s, and its retry gets the published one',
    async (_title, handler, options) => {
      const { first, second, log, end, retry } = await overtaken(handler, options);
      end();
      await expect(first).rejects.toThrow();
      expect((await retry()).text).toBe(second.text);
      // Which of the two processes is first to tell of the other's lease is not promised.
      expect([...log.kinds].sort()).toEqual(['executed', 'lease-lost', 'not-stored', 'replayed']);
    },
  );

  it('answers with its own response when the store cannot be asked: the work is done', async () => {
    let isDown = false;
    const fail = (): void => {
      if (isDown) throw new Error('The store is down');
    };
    const { first, second, end } = await overtaken(
      (_req, res) => void res.json({ run: 1 }),
      {},
      { acquire: fail, complete: fail },
    );
    isDown = true;
    end();
    expect([second.text, (await first).text]).toEqual(['{"run":2}', '{"run":1}']);
  });
});

describe('a right to run that was longer on its way than its lease', () => {
  const held = async (delays: number) => {
    const [asked, mayAnswer] = [signal(), signal()];
    let answers = 0;
    const leases = new HookedLeases(
      {},
      {
        acquire: async () => {
          if (++answers > delays) return;
          asked.happens();
          await mayAnswer.happened;
        },
      },
    );
    let runs = 0;
    const log = new EventLog();
    const { url } = await serve(
      express().post(
        '/',
        idempotency({ leases, leaseDuration: LEASE, storeTimeout: 20_000, onEvent: log.onEvent }),
        (_req, res) => void res.json({ run: ++runs }),
      ),
    );
    const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
    const first = post();
    await asked.happened;
    return {
      first,
      post,
      log,
      answer: () => mayAnswer.happens(),
      runs: () => runs,
    };
  };

  it('is not a right to run: the request gets 503, and its retry what was published meanwhile', async () => {
    const { first, post, answer, runs } = await held(1);
    const published = await post();
    expect(published.text).toBe('{"run":1}');
    answer();
    expect([(await first).status, (await post()).text]).toEqual([503, '{"run":1}']);
    expect(runs()).toBe(1);
  });
});
