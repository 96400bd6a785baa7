import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import express from 'express';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { guarded, type Run } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { keyed } from '../../support/replays';
import { signal } from '../../support/signal';

const created: Run = (_req, res) => res.status(201).send('x');
const down = (): never => {
  throw new Error('ECONNREFUSED');
};
const storeIsDown = (at: 'acquire' | 'complete') => ({ leases: new HookedLeases({ [at]: down }), storeTimeout: 40 });
const CODE = 'store-unavailable';
const text = { 'Content-Type': 'text/plain' };

/** An application whose handler, once it has begun, answers when a second request of its key has asked for the lease. */
async function whileOneWaits(ms: number) {
  const [begun, waits, mayEnd] = [signal(), signal(), signal()];
  let asked = 0;
  const leases = new HookedLeases({}, { acquire: () => (++asked === 2 ? waits.happens() : undefined) });
  const served = await guarded({ leases }, async (_req, res) => {
    begun.happens();
    await mayEnd.happened;
    res.status(201).end();
  });
  const first = served.post();
  await begun.happened;
  const end = async (): Promise<void> => {
    await pause(ms);
    mayEnd.happens();
    await first;
  };
  return { ...served, waits: waits.happened, end };
}

describe('onEvent', () => {
  const forgets: Run = (req, res) => res.end(req.idempotency.forget());
  const runsAll: IdempotencyOptions = { ...storeIsDown('acquire'), whenStoreFails: 'run' };
  const long: Run = (_req, res) => res.send('xx');
  const changesItsMind: Run = (_req, res) => {
    res.status(201).json({});
    res.status(500);
  };
  /** The events of requests with these bodies: kind, status, and the code of the error. */
  it.each<[string, IdempotencyOptions, Run, bodies: string, told: string]>([
    ['replays', {}, created, 'a|a', 'executed 201, replayed 201'],
    ['an error', {}, (_req, res) => res.status(500).end(), '', 'executed 500'],
    ['the status that was sent, not one that is set afterwards', {}, changesItsMind, '', 'executed 201'],
    ['the same of what is forgotten', { shouldCache: () => false }, changesItsMind, '', 'forgotten 201'],
    ['what the handler forgets', {}, forgets, '', 'forgotten 200'],
    ['a key that is reused', { whenKeyReused: 'reject' }, created, 'a|b', 'executed 201, reused 422'],
    ['a response that is too large', { maxResponseBytes: 1 }, long, 'a|a', 'not-stored 200, unavailable 409'],
    ['a response that fails to be stored', storeIsDown('complete'), created, '', `not-stored 201 ${CODE}`],
    ['a store that fails', storeIsDown('acquire'), created, '', `store-failed 503 ${CODE}`],
    ['a store that fails, where it runs all the same', runsAll, created, '', `store-failed ${CODE}`],
  ])('is told of %s', async (_title, options, act, bodies, told) => {
    const { post, log } = await guarded(options, act);
    for (const body of bodies.split('|')) await post({ key: '"the key"', headers: text, body });
    const shown = log.events.map(({ kind, status, error }) => [kind, status, (error as { code?: string })?.code]);
    expect(shown.map(parts => parts.filter(Boolean).join(' ')).join(', ')).toBe(told);
    const [number, cacheKey] = [expect.any(Number) as number, log.events[0]?.cacheKey];
    expect(cacheKey).toMatch(/^[0-9a-f]{64}$/);
    for (const event of log.events) {
      expect(event).toMatchObject({ key: 'the key', cacheKey, startTime: number, durationMs: number });
      expect('handlerMs' in event).toBe(/executed|not-stored|forgotten/.test(event.kind));
    }
  });

  it('is told unguarded for a request that is let through without a key, with the request; nothing for a method that is not guarded', async () => {
    const told: unknown[] = [];
    const onEvent: IdempotencyOptions['onEvent'] = ({ kind, key }, req) => told.push([kind, key, req.path]);
    const guard = idempotency({ methods: ['POST'], whenKeyMissing: 'run', onEvent });
    const { post } = await guarded(guard, created, { behind: [guard] });
    for (const sent of [{ key: '' }, { method: 'GET' }, {}]) await post({ path: '/pay', ...sent });
    expect(told).toEqual([
      ['unguarded', '', '/pay'],
      ['executed', 'k', '/pay'],
    ]);
  });

  it('is told waited by a duplicate that waited, and how long a request took', async () => {
    const { post, waits, end, log } = await whileOneWaits(30);
    const second = post();
    await waits;
    await end();
    await second;
    expect(log.events).toMatchObject([
      { kind: 'executed', status: 201 },
      { kind: 'waited', status: 201 },
    ]);
    for (const { durationMs } of log.events) expect(durationMs).toBeGreaterThan(20);
  });

  it('is told abandoned when the client of a waiting duplicate leaves', async () => {
    const { url, waits, end, log } = await whileOneWaits(0);
    const leaving = request(url, { method: 'POST', headers: keyed('k') }).on('error', () => undefined);
    leaving.end();
    await waits;
    leaving.destroy();
    await log.first('abandoned');
    await end();
    expect(log.kinds).toEqual(['abandoned', 'executed']);
  });

  it.each<[string, string, string, number, string]>([
    ['no key', '', '', 400, ''],
    ['a key that does not match', 'short', '', 400, ''],
    ['a body that is too long', 'long-enough', 'x'.repeat(2_000), 413, 'long-enough'],
  ])('is told refused for %s', async (_title, key, body, status, told) => {
    const { post, log } = await guarded({ keyPattern: /^.{8,}$/, maxRequestBytes: 1_000 });
    expect((await post({ key, body })).status).toBe(status);
    expect(log.events).toMatchObject([
      { kind: 'refused', key: told, cacheKey: '', status, error: { name: 'Problem', status } },
    ]);
  });

  it('that throws is a warning of the process, once, and changes nothing', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const onEvent = (): never => {
      throw new Error('no metrics');
    };
    const { post } = await guarded({ onEvent }, created);
    expect([(await post()).status, (await post()).status]).toEqual([201, 201]);
    expect(warn.mock.calls).toEqual([
      [
        'idempotency: onEvent failed (Error: no metrics), and the request is served all the same. Correct onEvent.',
        { code: 'BINDONCE_ON_EVENT' },
      ],
    ]);
    warn.mockRestore();
  });
});

/** What a meter was told: `name {attributes}` and how often; durations must be in seconds. */
async function measured(work: (meter: ReturnType<MeterProvider['getMeter']>) => Promise<void>): Promise<string[]> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  await work(provider.getMeter('spec'));
  await provider.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics));
  await provider.shutdown();
  return metrics.flatMap(({ descriptor, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => {
      if (typeof value !== 'number') expect(value.sum).toBeLessThan(5);
      const count = typeof value === 'number' ? value : value.count;
      return `${descriptor.name} ${descriptor.unit} ${JSON.stringify(attributes)} ${count}`;
    }),
  );
}

describe('telemetry', () => {
  it('counts requests by outcome and measures handlers, waits and the store, by route and without keys', async () => {
    const found = await measured(async meter => {
      const once = idempotency({ store: new Keyv({ store: new Map() }), scope: () => 'ann', telemetry: { meter } });
      const router = express.Router().post('/:id', once, (_req, res) => void setTimeout(() => res.sendStatus(201), 50));
      const { post } = await guarded(express.Router().use('/orders', router));
      const order = (key = 'secret-key') => post({ key, path: '/orders/7' });
      await Promise.all([order(), order()]);
      await order();
      await order('');
    });
    const route = '"http.route":"/orders/:id"';
    expect(found).toEqual(
      expect.arrayContaining([
        `bindonce.requests {request} {"bindonce.outcome":"executed",${route}} 1`,
        `bindonce.requests {request} {"bindonce.outcome":"waited",${route}} 1`,
        `bindonce.requests {request} {"bindonce.outcome":"replayed",${route}} 1`,
        `bindonce.requests {request} {"bindonce.outcome":"refused",${route}} 1`,
        `bindonce.handler.duration s {"bindonce.outcome":"executed",${route}} 1`,
        `bindonce.wait.duration s {"bindonce.outcome":"waited",${route}} 1`,
        expect.stringMatching(/^bindonce\.store\.duration s \{\} \d+$/),
      ]),
    );
    expect(found.join('\n')).not.toMatch(/secret-key|ann/);
  });

  it('true takes the global meter, which measures nothing unless the application has set one up', async () => {
    expect((await (await guarded({ telemetry: true })).post()).status).toBe(200);
  });
});
