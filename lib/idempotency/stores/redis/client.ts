import type { OpenSubscriptions } from './subscriber';

/** The part of a client of node-redis 5 or 6 (single node, pool, Sentinel or Cluster) that bindonce uses. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  on(event: 'end', listener: () => void): unknown;
}

/** The part of a client of ioredis or iovalkey (single node, Sentinel or Cluster) that bindonce uses. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster: boolean;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  on(event: 'end', listener: () => void): unknown;
}

/**
 * A client of node-redis 5 or 6 (`@keyv/redis` 5 or 6), or of ioredis or iovalkey (`@keyv/valkey`): single node,
 * Sentinel or Cluster.
 */
export type RedisClient = NodeRedisClient | IoredisClient;

/** What leases need of a client of any library. The client belongs to the application, which opens and closes it. */
export interface BorrowedClient {
  /** True for a client that is closed. */
  readonly isClosed: boolean;
  evaluate(script: string, key: string, args: readonly string[]): Promise<unknown>;
  /** Calls `onEnd` when the application closes the client. */
  onEnd(onEnd: () => void): void;
  /** Missing on Sentinel and Cluster, whose subscriptions would have to follow the master. */
  readonly openSubscriptions?: OpenSubscriptions;
}

/** An adapter of Keyv. That of `@keyv/redis` opens its client itself. */
interface Adapter {
  readonly client?: unknown;
  /** The client, in `@keyv/valkey`. */
  readonly redis?: unknown;
  getClient?(): Promise<unknown>;
}

/** @returns undefined for anything but a client. @throws TypeError for one that can run no scripts. */
export function borrow(client: unknown): BorrowedClient | undefined {
  if (typeof client !== 'object' || client === null) return undefined;
  const borrowed = isNodeRedis(client) ? overNodeRedis(client) : isIoredis(client) ? overIoredis(client) : undefined;
  if (borrowed && isSubscriber(client))
    throw new TypeError(
      'redisLeases: client is in subscriber mode, in which Redis runs no scripts. Pass another one, for example ' +
        'client.duplicate().',
    );
  return borrowed;
}

/** @returns the client of an adapter of Keyv; undefined for an adapter of another store. */
export function borrowFrom(adapter: object): BorrowedClient | undefined {
  const ofKeyv: Adapter = adapter;
  const { client, redis = client } = ofKeyv;
  if (ofKeyv.getClient && typeof redis === 'object' && redis !== null && isNodeRedis(redis))
    return overNodeRedis(redis, async () => ofKeyv.getClient?.());
  return borrow(redis);
}

const isNodeRedis = (client: object): client is NodeRedisClient => 'eval' in client && 'isOpen' in client;

const isIoredis = (client: object): client is IoredisClient =>
  'eval' in client && 'status' in client && 'isCluster' in client;

function isSubscriber(client: object): boolean {
  const { isPubSubActive, options, mode } = client as {
    isPubSubActive?: boolean;
    options?: { RESP?: number };
    mode?: string;
  };
  return (isPubSubActive === true && options?.RESP !== 3) || mode === 'subscriber' || mode === 'monitor';
}

/**
 * @param open opens a client of Keyv's adapter. It is called until the client was open once, and never again: what is
 * left of earlier requests would open one that the application has closed, and the process would never end.
 */
function overNodeRedis(client: NodeRedisClient, open?: () => Promise<unknown>): BorrowedClient {
  let mayOpen = open !== undefined;
  let opening: Promise<unknown> | undefined;
  return {
    get isClosed() {
      return !mayOpen && !client.isOpen;
    },
    async evaluate(script, key, args) {
      if (mayOpen) {
        // Shared: a client that connects counts as open, and keeps commands, for whose answers its close() would wait.
        await (opening ??= open?.().finally(() => {
          opening = undefined;
        }));
        mayOpen = !client.isOpen;
      }
      if (!client.isOpen)
        throw new Error(
          'The Redis client is closed. Call connect() before the server listens, and close it when server.close() ' +
            'has finished.',
        );
      return client.eval(script, { keys: [key], arguments: [...args] });
    },
    onEnd(onEnd) {
      client.on('end', onEnd);
    },
    ...(isSingleNodeRedis(client) && { openSubscriptions: subscriptionsOfNodeRedis(client) }),
  };
}

type Listener = (message: unknown, channel: unknown) => void;

interface SingleNodeRedis extends NodeRedisClient {
  duplicate(options: { disableOfflineQueue: true }): {
    readonly isOpen: boolean;
    readonly isReady: boolean;
    on(event: 'error', listener: () => void): unknown;
    unref(): void;
    connect(): Promise<unknown>;
    destroy(): void;
    subscribe(channel: string, listener: Listener): Promise<unknown>;
    unsubscribe(channel: string, listener: Listener): Promise<unknown>;
  };
}

const isSingleNodeRedis = (client: object): client is SingleNodeRedis =>
  'duplicate' in client && 'unref' in client && !('slots' in client) && !('getSentinelNode' in client);

const subscriptionsOfNodeRedis =
  (client: SingleNodeRedis): OpenSubscriptions =>
  async (onMessage, onEnd) => {
    const subscriber = client.duplicate({ disableOfflineQueue: true });
    const close = (): void => {
      if (subscriber.isOpen) subscriber.destroy();
    };
    subscriber.unref();
    // Emitted when the connection breaks, before the client connects again.
    subscriber.on('error', () => {
      close();
      onEnd();
    });
    await subscriber.connect();
    // It reports no error when it was closed meanwhile.
    if (!subscriber.isReady) throw new Error('Redis has not accepted a connection for notifications');
    const listener: Listener = (_message, channel) => {
      onMessage(String(channel));
    };
    return {
      subscribe: channel => subscriber.subscribe(channel, listener),
      unsubscribe: channel => subscriber.unsubscribe(channel, listener),
      close,
    };
  };

function overIoredis(client: IoredisClient): BorrowedClient {
  return {
    get isClosed() {
      return client.status === 'end';
    },
    evaluate: (script, key, args) => client.eval(script, 1, key, ...args),
    onEnd(onEnd) {
      client.on('end', onEnd);
    },
    ...(isSingleIoredis(client) && { openSubscriptions: subscriptionsOfIoredis(client) }),
  };
}

interface SingleIoredis extends IoredisClient {
  duplicate(options: { lazyConnect: true; enableOfflineQueue: false; retryStrategy: () => null }): {
    on(event: 'error' | 'end' | 'message', listener: (first: unknown) => void): unknown;
    connect(): Promise<unknown>;
    disconnect(): void;
    subscribe(channel: string): Promise<unknown>;
    unsubscribe(channel: string): Promise<unknown>;
  };
}

function isSingleIoredis(client: IoredisClient): client is SingleIoredis {
  const { options } = client as { options?: { sentinels?: unknown } };
  return 'duplicate' in client && !client.isCluster && !options?.sentinels;
}

const subscriptionsOfIoredis =
  (client: SingleIoredis): OpenSubscriptions =>
  async (onMessage, onEnd) => {
    const subscriber = client.duplicate({ lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
    subscriber.on('error', () => undefined);
    subscriber.on('end', onEnd);
    subscriber.on('message', channel => {
      onMessage(String(channel));
    });
    await subscriber.connect();
    return {
      subscribe: channel => subscriber.subscribe(channel),
      unsubscribe: channel => subscriber.unsubscribe(channel),
      close: () => {
        subscriber.disconnect();
      },
    };
  };
