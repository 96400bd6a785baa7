import { createRequire } from 'node:module';

/**
 * The outcome of a request, reported to `onEvent`. Each guarded request has one; `lease-lost` may come before it.
 * - `executed`: the handler ran and its response is stored.
 * - `not-stored`: the handler ran, and its response could not be stored: late (storing goes on), too long, broken off,
 *   or another run's response counts.
 * - `forgotten`: the handler ran, and its response is not stored by choice: `forget()`, or `shouldCache`.
 * - `lease-lost`: the lease expired while the handler ran; another request may have run it again.
 * - `replayed`: the stored response was sent at once.
 * - `waited`: the stored response was sent after waiting for the first request.
 * - `conflicted`: 409; the first request was still running.
 * - `unavailable`: 409; the request was executed before, and its response is lost.
 * - `outcome-unknown`: 409; its process died, and nobody has settled what it has done.
 * - `reused`: 422; the key belongs to another request.
 * - `refused`: no usable key, an unreadable body, or values that `bindRequest()` refused; the handler did not run.
 * - `abandoned`: the client left, or another middleware answered, before the handler ran.
 * - `store-failed`: the store failed or was too slow; the handler did not run, or ran unguarded if so configured.
 * - `unguarded`: no key, and let through (`whenKeyMissing: 'run'`).
 */
export type IdempotencyEventKind = OfRun | OfDuplicate | OfOther;

type OfRun = 'executed' | 'not-stored' | 'forgotten' | 'lease-lost';
type OfDuplicate = 'replayed' | 'waited' | 'conflicted' | 'unavailable' | 'outcome-unknown' | 'reused';
type OfOther = 'refused' | 'abandoned' | 'store-failed' | 'unguarded';

/** One outcome of a request, as `onEvent` gets it. */
export interface IdempotencyEvent {
  /** The outcome. */
  readonly kind: IdempotencyEventKind;
  /** Empty if the request has no usable key. */
  readonly key: string;
  /** Empty if the request was not read to its end. */
  readonly cacheKey: string;
  /** When the request was received, in milliseconds since 1970. */
  readonly startTime: number;
  /** Milliseconds from `startTime` until the response was allowed to end. */
  readonly durationMs: number;
  /** Milliseconds of `durationMs` in which the handler ran. */
  readonly handlerMs?: number;
  /** Status of the response, if there is one. */
  readonly status?: number;
  /** The reason of `store-failed`, `not-stored` or `refused`. */
  readonly error?: unknown;
}

type Attributes = Record<string, string>;

/** The part of a `Meter` of OpenTelemetry (`@opentelemetry/api` 1) that bindonce uses. */
export interface TelemetryMeter {
  createCounter(name: string, options: object): { add(count: number, attributes: Attributes): void };
  createHistogram(name: string, options: object): { record(value: number, attributes: Attributes): void };
}

/** The metrics of one middleware. */
export interface Telemetry {
  /** @param route of Express, if a route has been reached. */
  readonly report: (event: IdempotencyEvent, route: string | undefined) => void;
  readonly storeCalled: (ms: number) => void;
}

/**
 * Makes the instruments. None is told a key, a cache key or a caller.
 * @throws Error if `@opentelemetry/api` is not installed.
 */
export function telemetryOf(given: boolean | { readonly meter?: TelemetryMeter }): Telemetry | undefined {
  if (given === false) return undefined;
  const meter = (given === true ? undefined : given.meter) ?? globalMeter();
  const requests = meter.createCounter('bindonce.requests', {
    unit: '{request}',
    description: 'Guarded requests by their outcome; lease-lost is counted beside the outcome.',
  });
  const seconds = (name: string, description: string) =>
    meter.createHistogram(`bindonce.${name}.duration`, { unit: 's', description });
  const handler = seconds('handler', 'How long handlers ran.');
  const wait = seconds('wait', 'How long duplicates waited for the first request.');
  const store = seconds('store', 'How long calls of the store took.');
  return {
    report({ kind, durationMs, handlerMs }, route) {
      const attributes = { 'bindonce.outcome': kind, ...(route !== undefined && { 'http.route': route }) };
      requests.add(1, attributes);
      if (handlerMs !== undefined) handler.record(handlerMs / 1_000, attributes);
      if (kind === 'waited' || kind === 'conflicted') wait.record(durationMs / 1_000, attributes);
    },
    storeCalled: ms => store.record(ms / 1_000, {}),
  };
}

function globalMeter(): TelemetryMeter {
  try {
    const { metrics } = createRequire(__filename)('@opentelemetry/api') as {
      metrics: { getMeter(name: string): TelemetryMeter };
    };
    return metrics.getMeter('bindonce');
  } catch (cause) {
    const remedy = 'Run `npm install @opentelemetry/api`.';
    throw new Error(`idempotency: telemetry needs the package @opentelemetry/api. ${remedy}`, { cause });
  }
}
