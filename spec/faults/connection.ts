import KeyvRedis from '@keyv/redis';
import type { IdempotencyOptions } from '../../lib';
import { Keyv } from 'keyv';

export type StoreKind = 'redis';

/** How a server process reaches the store. */
export interface Connection {
  readonly options: Pick<IdempotencyOptions, 'store' | 'leases'>;
  close(): Promise<unknown>;
}

/** Milliseconds between two attempts to reach a store that is down: short, so that a storm has many calms. */
const RECONNECT = 50;

const kinds: Readonly<Record<StoreKind, (url: string) => Connection>> = {
  redis(url) {
    const store = new Keyv(new KeyvRedis({ url, socket: { reconnectStrategy: RECONNECT } }));
    store.on('error', () => undefined);
    return { options: { store }, close: () => store.disconnect() };
  },
};

export const connectTo = (kind: StoreKind, url: string): Connection => kinds[kind](url);
