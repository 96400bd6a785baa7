import { createRequire } from 'node:module';
import type { IdempotencyEvent } from './events';

type Attributes = Record<string, string>;

/** The part of a `Meter` of OpenTelemetry (`@opentelemetry/api` 1) that bindonce uses. */
export interface TelemetryMeter {
  createCounter(name: string, options: object): { add(count: number, attributes: Attributes): void };
  createHistogram(name: string, options: object): { record(value: number, attributes: Attributes): void };
}

/** The instruments of one middleware. None is told a key, a cache key or a caller. */
export class Telemetry {
  private readonly requests;
  private readonly handler;
  private readonly wait;
  private readonly store;

  constructor(meter: TelemetryMeter) {
    const seconds = (name: string, description: string) =>
      meter.createHistogram(`bindonce.${name}.duration`, { unit: 's', description });
    this.requests = meter.createCounter('bindonce.requests', {
      unit: '{request}',
      description: 'Guarded requests by their outcome; lease-lost is counted beside the outcome.',
    });
    this.handler = seconds('handler', 'How long handlers ran.');
    this.wait = seconds('wait', 'How long duplicates waited for the first request.');
    this.store = seconds('store', 'How long calls of the store took.');
  }

  /** @param route of Express, if a route has been reached. */
  report({ kind, durationMs, handlerMs }: IdempotencyEvent, route: string | undefined): void {
    const attributes = { 'bindonce.outcome': kind, ...(route !== undefined && { 'http.route': route }) };
    this.requests.add(1, attributes);
    if (handlerMs !== undefined) this.handler.record(handlerMs / 1_000, attributes);
    if (kind === 'waited' || kind === 'conflicted') this.wait.record(durationMs / 1_000, attributes);
  }

  storeCalled(ms: number): void {
    this.store.record(ms / 1_000, {});
  }
}

/** @throws Error if `@opentelemetry/api` is not installed. */
export function telemetryOf(given: boolean | { readonly meter?: TelemetryMeter }): Telemetry | undefined {
  if (given === false) return undefined;
  return new Telemetry((given === true ? undefined : given.meter) ?? globalMeter());
}

function globalMeter(): TelemetryMeter {
  try {
    const api = createRequire(__filename)('@opentelemetry/api') as {
      metrics: { getMeter(name: string): TelemetryMeter };
    };
    return api.metrics.getMeter('bindonce');
  } catch (cause) {
    const remedy = 'Run `npm install @opentelemetry/api`.';
    throw new Error(`idempotency: telemetry needs the package @opentelemetry/api. ${remedy}`, { cause });
  }
}
