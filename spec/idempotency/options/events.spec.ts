import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyEvent, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { HookedLeases } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal, type Signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const CREATED: RequestHandler = (_req, res) => void res.status(201).send('x');
const down = (): never => {
  throw new Error('ECONNREFUSED');
};

/** Events of two requests with one key, one after the other. */
async function eventsOf(
  options: IdempotencyOptions,
  handler = CREATED,
  bodies: readonly string[] = ['', ''],
): Promise<IdempotencyEvent[]> {
  const log = new EventLog();
  const { url } = await serve(express().post('/', idempotency({ ...options, onEvent: log.onEvent }), handler));
  for (const body of bodies) await send(url, { headers: keyed('"the key"', { 'Content-Type': 'text/plain' }), body });
  return log.events;
}

/** Leases that tell when the second request has asked for one. */
function toldOfTheSecond(asked: Signal): HookedLeases {
  let requests = 0;
  return new HookedLeases(
    {},
    {
      acquire: () => {
        if (++requests === 2) asked.happens();
      },
    },
  );
}

describe('onEvent', () => {
  it.each<[string, IdempotencyOptions, RequestHandler, string[], Partial<IdempotencyEvent>[]]>([
    [
      'executed and replayed',
      {},
      CREATED,
      ['', ''],
      [
        { kind: 'executed', status: 201 },
        { kind: 'replayed', status: 201 },
      ],
    ],
    [
      'executed for an error too',
      {},
      (_req, res) => void res.status(500).end(),
      [''],
      [{ kind: 'executed', status: 500 }],
    ],
    [
      'executed with the status that was sent, not with one that the handler sets afterwards',
      {},
      (_req, res) => {
        res.status(201).json({});
        res.status(500);
      },
      ['', ''],
      [
        { kind: 'executed', status: 201 },
        { kind: 'replayed', status: 201 },
      ],
    ],
    [
      'forgotten with the status that was sent, too',
      { shouldCache: () => false },
      (_req, res) => {
        res.status(201).json({});
        res.status(500);
      },
      [''],
      [{ kind: 'forgotten', status: 201 }],
    ],
    [
      'reused',
      { whenKeyReused: 'reject' },
      CREATED,
      ['a', 'b'],
      [
        { kind: 'executed', status: 201 },
        { kind: 'reused', status: 422 },
      ],
    ],
    [
      'forgotten, where that was wanted',
      {},
      (req, res) => {
        req.idempotency.forget();
        res.end();
      },
      [''],
      [{ kind: 'forgotten', status: 200 }],
    ],
    [
      'forgotten, where shouldCache says no',
      { shouldCache: () => false },
      CREATED,
      [''],
      [{ kind: 'forgotten', status: 201 }],
    ],
    [
      'not-stored and unavailable, where the response is too large',
      { maxResponseBytes: 1 },
      (_req, res) => void res.send('xx'),
      ['', ''],
      [
        { kind: 'not-stored', status: 200 },
        { kind: 'unavailable', status: 409 },
      ],
    ],
    [
      'not-stored, where the store fails',
      { leases: new HookedLeases({ complete: down }), storeTimeout: 40 },
      CREATED,
      [''],
      [
        {
          kind: 'not-stored',
          status: 201,
          error: expect.objectContaining({ code: 'store-unavailable', cause: new Error('ECONNREFUSED') }),
        },
      ],
    ],
    [
      'store-failed',
      { leases: new HookedLeases({ acquire: down }), storeTimeout: 40 },
      CREATED,
      [''],
      [{ kind: 'store-failed', status: 503, error: expect.objectContaining({ code: 'store-unavailable' }) }],
    ],
    [
      'store-failed without a status, where the handler runs all the same',
      { leases: new HookedLeases({ acquire: down }), storeTimeout: 40, whenStoreFails: 'run' },
      CREATED,
      [''],
      [{ kind: 'store-failed', error: expect.objectContaining({ code: 'store-unavailable' }) }],
    ],
  ])('is told %s', async (_title, options, handler, bodies, expected) => {
    const events = await eventsOf(options, handler, bodies);
    expect(events).toEqual(
      expected.map(event => ({
        key: 'the key',
        cacheKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        startTime: expect.any(Number) as number,
        durationMs: expect.any(Number) as number,
        ...(['executed', 'not-stored', 'forgotten'].includes(String(event.kind)) && {
          handlerMs: expect.any(Number) as number,
        }),
        ...event,
      })),
    );
    expect(new Set(events.map(({ cacheKey }) => cacheKey)).size).toBe(1);
  });

  it('is told unguarded for a request that is let through without a key, with the request; nothing for a method that is not guarded', async () => {
    const told: unknown[] = [];
    const onEvent: IdempotencyOptions['onEvent'] = ({ kind, key }, req) => told.push([kind, key, req.path]);
    const guard = idempotency({ methods: ['POST'], whenKeyMissing: 'run', onEvent });
    const { url } = await serve(express().use(guard, guard, CREATED));
    await send(`${url}/pay`, { headers: {} });
    await send(`${url}/pay`, { method: 'GET' });
    await send(`${url}/pay`, { headers: keyed('k') });
    expect(told).toEqual([
      ['unguarded', '', '/pay'],
      ['executed', 'k', '/pay'],
    ]);
  });

  it('is told waited by a duplicate that waited, and how long a request took', async () => {
    const log = new EventLog();
    const waits = signal();
    const leases = toldOfTheSecond(waits);
    const { url } = await serve(
      express().post('/', idempotency({ leases, onEvent: log.onEvent }), async (_req, res) => {
        await waits.happened;
        await pause(30);
        res.status(201).end();
      }),
    );
    await Promise.all([send(url, { headers: keyed('k') }), send(url, { headers: keyed('k') })]);
    expect(log.events).toEqual([
      expect.objectContaining({ kind: 'executed', status: 201 }),
      expect.objectContaining({ kind: 'waited', status: 201 }),
    ]);
    for (const { durationMs } of log.events) expect(durationMs).toBeGreaterThan(20);
  });

  it.each<[string, string | undefined, string, number, string]>([
    ['no key', undefined, '', 400, ''],
    ['a key that does not match', 'short', '', 400, ''],
    ['a body that is too long', 'long-enough', 'x'.repeat(2_000), 413, 'long-enough'],
  ])('is told refused for %s', async (_title, key, body, status, told) => {
    const log = new EventLog();
    const { url } = await serve(
      express().post(
        '/',
        idempotency({ onEvent: log.onEvent, keyPattern: /^.{8,}$/, maxRequestBytes: 1_000 }),
        CREATED,
      ),
    );
    expect((await send(url, { headers: key === undefined ? {} : keyed(key), body })).status).toBe(status);
    expect(log.events).toEqual([
      expect.objectContaining({
        kind: 'refused',
        key: told,
        cacheKey: '',
        status,
        error: expect.objectContaining({ name: 'Problem', status }),
      }),
    ]);
  });

  it('is told abandoned when the client of a waiting duplicate leaves', async () => {
    const log = new EventLog();
    const [runs, waits, mayEnd] = [signal(), signal(), signal()];
    const leases = toldOfTheSecond(waits);
    const { url } = await serve(
      express().post('/', idempotency({ onEvent: log.onEvent, leases }), (_req, res) => {
        runs.happens();
        void mayEnd.happened.then(() => res.status(201).end());
      }),
    );
    const first = send(url, { headers: keyed('k') });
    await runs.happened;
    const leaving = request(url, { method: 'POST', headers: keyed('k') })
      .on('error', () => undefined)
      .end();
    await waits.happened;
    leaving.destroy();
    await log.first('abandoned');
    mayEnd.happens();
    await first;
    expect(log.kinds).toEqual(['abandoned', 'executed']);
  });

  it('that throws is a warning of the process, once, and changes nothing', async () => {
    const warn = jest.spyOn(process, 'emitWarning');
    const { url } = await serve(
      express().post(
        '/',
        idempotency({
          onEvent: () => {
            throw new Error('no metrics');
          },
        }),
        CREATED,
      ),
    );
    const answers = [await send(url, { headers: keyed('k') }), await send(url, { headers: keyed('k') })];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(warn.mock.calls).toEqual([
      [
        'idempotency: onEvent failed (Error: no metrics), and the request is served all the same. Correct onEvent.',
        { code: 'BINDONCE_ON_EVENT' },
      ],
    ]);
  });
});
