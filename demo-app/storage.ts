import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { memoryLedger, redisLedger, type Ledger } from './ledger';

/** Where the shop keeps what it must not lose: in this process, or on a Redis that several processes share. */
export interface Storage {
  readonly name: 'memory' | 'Redis';
  /** For the idempotency middleware; undefined: its own store in memory. */
  readonly responses: Keyv | undefined;
  ledger<Entry>(name: string): Ledger<Entry>;
  /** Connects in the background; what goes wrong is printed. */
  open(): void;
  close(): Promise<void>;
}

export function storageAt(redisUrl: URL | undefined): Storage {
  return redisUrl ? redisStorage(redisUrl) : memoryStorage;
}

const memoryStorage: Storage = {
  name: 'memory',
  responses: undefined,
  ledger: memoryLedger,
  open: () => undefined,
  close: () => Promise.resolve(),
};

function redisStorage({ href: url, host }: URL): Storage {
  // Without the offline queue, a command fails at once while Redis is away, instead of waiting for its return.
  const redis = new KeyvRedis<unknown>({
    url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: (attempts: number) => Math.min(50 * 2 ** attempts, 1_000) },
  });
  const responses = new Keyv(redis, { namespace: 'shop' });
  let isStopping = false;
  let said = '';
  const complain = (error: unknown): void => {
    // An error of several addresses (localhost) has no message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message || code || String(error);
    // It is tried again every second; once is enough to say it.
    if (isStopping || reason === said) return;
    said = reason;
    console.error(
      `The Redis at ${host} does not answer: ${reason}. Until it does, requests get 503. Start it, or change REDIS_URL.`,
    );
  };
  responses.on('error', complain);
  redis.on('connect', () => {
    said = '';
  });
  return {
    name: 'Redis',
    responses,
    ledger: name => redisLedger(redis, `shop:${name}`),
    // A Redis that wants a password lets everybody connect, and says so to the first command.
    open: () => {
      redis
        .getClient()
        .then(client => client.ping())
        .catch(complain);
    },
    close: () => {
      isStopping = true;
      return redis.disconnect(true);
    },
  };
}
