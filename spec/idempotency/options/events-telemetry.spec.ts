import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import express from 'express';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

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
      const router = express.Router().post('/:id', once, (_req, res) => {
        setTimeout(() => res.sendStatus(201), 50);
      });
      const { url } = await serve(express().use('/orders', router));
      const order = (headers: Record<string, string>) => send(`${url}/orders/7`, { headers });
      await Promise.all([order(keyed('secret-key')), order(keyed('secret-key'))]);
      await order(keyed('secret-key'));
      await order({});
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
    const { url } = await serve(express().post('/', idempotency({ telemetry: true }), (_req, res) => res.json(1)));
    expect((await send(url, { headers: keyed('k') })).status).toBe(200);
  });
});
