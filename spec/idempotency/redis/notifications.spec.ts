import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../lib';
import { RedisNotifications } from '../../../lib/idempotency/redis/notifications';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { signal } from '../../support/signal';
import { Shop } from '../../support/shop';

const LONG = 60_000;

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());

/** Waits until so many connections are in subscriber mode. */
const subscribers = (count: number): Promise<void> =>
  redis.answers(new RegExp(`^(?:[^]*?\\bsub=[1-9]){${count}}(?![^]*\\bsub=[1-9])`), 'CLIENT', 'LIST');
const subscribed = (channel: string): Promise<void> => redis.answers(/,1$/, 'PUBSUB', 'NUMSUB', channel);
const breakSubscriptions = (): Promise<unknown> => redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');

interface Connected {
  readonly client: RedisClient;
  close(): unknown;
}

const lasting: [name: string, connect: () => Connected][] = [
  [
    'node-redis',
    () => {
      const client = createClient({ url: redis.url }).on('error', () => undefined);
      return {
        client,
        close: () => {
          if (client.isOpen) client.destroy();
        },
      };
    },
  ],
  [
    'iovalkey',
    () => {
      const client = new Iovalkey(redis.url).on('error', () => undefined);
      return {
        client,
        close: () => {
          client.disconnect();
        },
      };
    },
  ],
];

const givingUp: [name: string, connect: () => Connected][] = [
  [
    'node-redis',
    () => {
      const client = createClient({ url: redis.url, socket: { reconnectStrategy: false } }).on(
        'error',
        () => undefined,
      );
      return {
        client,
        close: () => {
          if (client.isOpen) client.destroy();
        },
      };
    },
  ],
  [
    'iovalkey',
    () => {
      const client = new Iovalkey(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
      return {
        client,
        close: () => {
          client.disconnect();
        },
      };
    },
  ],
];

it('the connection for notifications does not keep the AsyncLocalStorage of the request that opens it', async () => {
  const request = new AsyncLocalStorage<string>();
  const openedIn: unknown[] = [];
  const done = (): Promise<void> => Promise.resolve();
  const notifications = new RedisNotifications({
    subscriber: () => {
      openedIn.push(request.getStore());
      return { isOpen: true, subscribe: done, unsubscribe: done };
    },
  });
  const stop = await request.run('a request', () => notifications.watch('channel', () => undefined));
  stop();
  expect(openedIn).toEqual([undefined]);
});

describe.each(lasting)('notifications over %s', (name, connect) => {
  let connected: Connected;
  beforeEach(() => {
    connected = connect();
  });
  afterEach(() => connected.close());

  it('go on by themselves after the subscriptions broke', async () => {
    const leases = redisLeases(connected.client);
    const key = `${name} broken`;
    await leases.acquire(key, 'a', LONG);
    const change = signal();
    const stop = await leases.watch?.(key, () => {
      change.happens();
    });
    await breakSubscriptions();
    await subscribed(`keyv:bindonce:1::lease:${key}`);
    await leases.complete(key, 'a', LONG);
    await change.happened;
    stop?.();
  });

  it('hold a connection only while there are waiters', async () => {
    const leases = redisLeases(connected.client);
    const stops = await Promise.all(['x', 'x', 'y'].map(key => leases.watch?.(`${name} ${key}`, () => undefined)));
    await subscribers(1);
    for (const stop of stops) stop?.();
    await subscribers(0);
  });

  it('are refused to a user who may not subscribe, and granted when he may', async () => {
    const leases = redisLeases(connected.client);
    await leases.release(name, 'nobody');
    await redis.ask('ACL', 'SETUSER', 'default', '-subscribe');
    await expect(leases.watch?.(name, () => undefined)).rejects.toThrow('NOPERM');
    await redis.ask('ACL', 'SETUSER', 'default', '+subscribe');
    const change = signal();
    const stop = await leases.watch?.(name, () => {
      change.happens();
    });
    await leases.complete(name, 'a', LONG);
    await change.happened;
    stop?.();
  });
});

describe.each(lasting)('a subscription of %s that is refused when it is made again', (name, connect) => {
  it('leaves no rejection unhandled, and goes on when it is allowed', async () => {
    const unhandled: unknown[] = [];
    const remember = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', remember);
    const { client, close } = connect();
    const leases = redisLeases(client);
    const change = signal();
    const stop = await leases.watch?.(`${name} refused`, () => {
      change.happens();
    });
    await redis.ask('ACL', 'LOG', 'RESET');
    await redis.ask('ACL', 'SETUSER', 'default', '-subscribe');
    await breakSubscriptions();
    await redis.answers(/subscribe/, 'ACL', 'LOG');
    await redis.ask('ACL', 'SETUSER', 'default', '+subscribe');
    await breakSubscriptions();
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal');
    await subscribed(`keyv:bindonce:1::lease:${name} refused`);
    await leases.complete(`${name} refused`, 'a', LONG);
    await change.happened;
    stop?.();
    close();
    process.off('unhandledRejection', remember);
    expect(unhandled).toEqual([]);
  });
});

describe.each(lasting)('a subscriber of %s that is not let in', (name, connect) => {
  it('is given up, and replaced for the next who waits', async () => {
    const { client, close } = connect();
    const leases = redisLeases(client);
    await leases.release(name, 'nobody');
    const admin = await createClient({ url: redis.url }).connect();
    await admin.configSet('maxclients', '1');
    await expect(leases.watch?.(name, () => undefined))
      .rejects.toThrow()
      .finally(() => admin.configSet('maxclients', '1000'));
    admin.destroy();
    const stop = await leases.watch?.(name, () => undefined);
    await subscribers(1);
    stop?.();
    await subscribers(0);
    close();
  });
});

/** Milliseconds between two tries to connect, at most: of node-redis 2.2 seconds, of iovalkey 2. */
const LONGEST_PAUSE = 2_500;

describe('a subscriber that finds no server when it is to begin', () => {
  it.each<[string, (url: string) => RedisClient & { destroy?(): void; disconnect(): void }]>([
    ['node-redis', url => createClient({ url }).on('error', () => undefined)],
    ['iovalkey', url => new Iovalkey(url).on('error', () => undefined)],
    [
      'iovalkey whose commands wait',
      url => new Iovalkey(url, { maxRetriesPerRequest: null }).on('error', () => undefined),
    ],
  ])('does not try for ever when no one waits any more: %s', async (name, connect) => {
    const proxy = await TcpProxy.before(redis.port);
    const client = connect(`redis://127.0.0.1:${proxy.port}`);
    const leases = redisLeases(client);
    await leases.release(name, 'nobody');
    proxy.cut();
    const watching = leases.watch?.(name, () => undefined);
    // The application shuts down.
    client.disconnect();
    await expect(watching).rejects.toThrow('did not confirm a subscription');
    proxy.mend();
    const { connections } = proxy;
    await pause(LONGEST_PAUSE);
    expect(proxy.connections).toBe(connections);
    await proxy.close();
  });
});

it('a subscriber of node-redis that is left while it connects again keeps no connection', async () => {
  const client = createClient({ url: redis.url }).on('error', () => undefined);
  const made: (typeof client)[] = [];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (...args) => {
    const subscriber = duplicate(...args);
    made.push(subscriber as typeof client);
    return subscriber;
  };
  const leases = redisLeases(client);
  await leases.release('left', 'nobody');
  const stop = await leases.watch?.('left', () => undefined);
  const left = new Promise<void>(resolve => {
    made[0]?.once('reconnecting', () => {
      queueMicrotask(() => {
        stop?.();
        resolve();
      });
    });
  });
  const connected = new Promise(resolve => made[0]?.once('connect', resolve));
  await breakSubscriptions();
  await left;
  await connected;
  // The client, and the one that asks.
  await redis.answers(/^(?:[^\n]*\n){2}$/, 'CLIENT', 'LIST');
  client.destroy();
});

describe.each(givingUp)('a subscriber of %s that does not connect again', (name, connect) => {
  let connected: Connected;
  beforeEach(() => {
    connected = connect();
  });
  afterEach(() => connected.close());

  it('is replaced for the next who waits, and for those who waited on it', async () => {
    const leases = redisLeases(connected.client);
    const [early, late] = [signal(), signal()];
    const stops = [
      await leases.watch?.(`${name} early`, () => {
        early.happens();
      }),
    ];
    await breakSubscriptions();
    await subscribers(0);
    stops.push(
      await leases.watch?.(`${name} late`, () => {
        late.happens();
      }),
    );
    await subscribed(`keyv:bindonce:1::lease:${name} early`);
    for (const key of ['early', 'late']) await leases.complete(`${name} ${key}`, 'a', LONG);
    await Promise.all([early.happened, late.happened]);
    for (const stop of stops) stop?.();
    await subscribers(0);
  });

  it('is replaced when it could not connect at first', async () => {
    const leases = redisLeases(connected.client);
    await leases.release(name, 'nobody');
    const admin = await createClient({ url: redis.url }).connect();
    await admin.configSet('maxclients', '1');
    await expect(leases.watch?.(name, () => undefined)).rejects.toThrow();
    await admin.configSet('maxclients', '1000');
    admin.destroy();
    const stop = await leases.watch?.(name, () => undefined);
    await subscribers(1);
    stop?.();
  });
});

describe.each<[string, () => Keyv]>([
  ['@keyv/redis', () => new Keyv(new KeyvRedis(redis.url))],
  ['@keyv/valkey', () => new Keyv(new KeyvValkey(redis.url, { useRedisSets: false }))],
])('a duplicate on %s', (name, makeStore) => {
  it('whose subscription breaks while it waits gets the answer all the same', async () => {
    const shop = await Shop.open(makeStore());
    const [started, mayEnd] = [signal(), signal()];
    shop.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const original = shop.outcome(name);
    await started.happened;
    const duplicate = shop.outcome(name);
    await subscribers(1);
    await breakSubscriptions();
    mayEnd.happens();
    expect(await Promise.all([original, duplicate])).toEqual(['ran', 'replayed']);
    await shop.close();
  });
});
