import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { idempotentFetch } from '../../lib/client';
import type { IdempotentFetch, IdempotentFetchOptions, KeyEntry, KeyStorage } from '../../lib/client';
import { serve } from '../support/serve';

/** A service that takes payments, and what its specs see of it. */
export interface Service {
  readonly url: string;
  readonly port: number;
  /** The key of each request that has arrived, in order. */
  readonly keys: (string | undefined)[];
  /** When each request arrived, in milliseconds. */
  readonly times: number[];
  readonly charges: () => number;
}

/** How the handler does its work; it is told the number of the charge. */
export type Work = (charge: number) => unknown;

/**
 * Serves POST /payments under `idempotency()`.
 * @param trouble answers the first requests in turn, in front of the service; undefined lets one pass.
 */
export async function service(
  trouble: readonly (RequestHandler | undefined)[] = [],
  { work = () => undefined, ...options }: IdempotencyOptions & { readonly work?: Work } = {},
): Promise<Service> {
  const keys: (string | undefined)[] = [];
  const times: number[] = [];
  let charges = 0;
  const app = express();
  app.use((req, res, next) => {
    times.push(performance.now());
    const obstacle = trouble[keys.push(req.get('Idempotency-Key')) - 1];
    if (obstacle) obstacle(req, res, next);
    else next();
  });
  app.post('/payments', idempotency(options), async (_req, res) => {
    const charge = ++charges;
    const status = await work(charge);
    res.status(typeof status === 'number' ? status : 201).json({ charge });
  });
  const { url, port } = await serve(app);
  return { url: `${url}/payments`, port, keys, times, charges: () => charges };
}

/** Answers without a run, as a proxy or an earlier middleware does. */
export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): RequestHandler =>
  (_req, res) => {
    res.status(status).set(headers).end(body);
  };

/** A storage that a spec can look into. A page finds it again after a reload. */
export class Shelf implements KeyStorage {
  readonly items = new Map<string, KeyEntry & { readonly isShared?: boolean }>();

  claim(name: string, entry: KeyEntry): KeyEntry | Promise<KeyEntry> {
    const found = this.items.get(name);
    const claimed = found && found.until > Date.now() ? { ...found, isShared: true } : entry;
    this.items.set(name, claimed);
    return claimed;
  }
  remove(name: string, key: string, ifAlone: boolean): unknown {
    const found = this.items.get(name);
    return found?.key === key && !(ifAlone && found.isShared) && this.items.delete(name);
  }
}

/** Does something on a clock that can be set forward, as after a sleep. Timers do not heed it. */
export async function onClock(work: (forward: (ms: number) => void) => Promise<void>): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'performance') as PropertyDescriptor;
  const now = performance.now();
  let ahead = 0;
  const value = { now: () => now + ahead, timeOrigin: performance.timeOrigin };
  Object.defineProperty(globalThis, 'performance', { value, configurable: true });
  try {
    await work(ms => {
      ahead += ms;
    });
  } finally {
    Object.defineProperty(globalThis, 'performance', own);
  }
}

let clients = 0;

/** A client that does not wait long, with keys of its own. */
export const client = (options: IdempotentFetchOptions = {}): IdempotentFetch =>
  idempotentFetch({
    storage: 'memory',
    ...(!options.storage && { prefix: `client ${clients++} ` }),
    baseDelay: 1,
    maxDelay: 5,
    deadline: 30_000,
    ...options,
  });

/** A payment of one customer. */
export const payment = (amount = '4.50'): { method: string; headers: Record<string, string>; body: string } => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ amount }),
});
