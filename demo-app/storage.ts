import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { memoryLedger, redisLedger, type Ledger } from './ledger';

/** Where the shop keeps what it must not lose: in this process, or on a Redis that several processes share. */
export interface Storage {
  /** For the idempotency middleware; undefined: its own store in memory. */
  readonly responses: Keyv | undefined;
  ledger<Entry>(name: string): Ledger<Entry>;
  close(): Promise<void>;
}

export function openStorage(redisUrl: string | undefined): Storage {
  if (redisUrl === undefined || redisUrl === '') return { responses: undefined, ledger: memoryLedger, close: () => Promise.resolve() };
  // Without the offline queue, a command fails at once while Redis is away, instead of waiting for its return.
  const redis = new KeyvRedis<unknown>({ url: redisUrl, disableOfflineQueue: true, socket: { reconnectStrategy: (attempts: number) => Math.min(50 * 2 ** attempts, 1_000) } });
  const responses = new Keyv(redis, { namespace: 'shop' });
  responses.on('error', (error: unknown) => { console.error(`redis: ${String(error)}`); });
  return {
    responses,
    ledger: name => redisLedger(redis, `shop:${name}`),
    close: () => redis.disconnect(true),
  };
}
