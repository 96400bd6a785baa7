import { Watchers } from '../../leases/waiting';

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

export function isRedisClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null || !('eval' in value)) return false;
  return 'isOpen' in value || ('status' in value && 'isCluster' in value);
}

/** An adapter of Keyv: its client is `redis` in `@keyv/valkey`. */
type Adapter = object & { client?: unknown; redis?: unknown; getClient?(): Promise<unknown> };

/** Of each adapter of Keyv: leases and responses know the same of its client. */
const ofAdapters = new WeakMap<object, BorrowedClient>();

/** A client of the application, which opens and closes it; but the adapter of `@keyv/redis` opens its client itself. */
export class BorrowedClient {
  private opening: Promise<unknown> | undefined;

  /**
   * @param open opens the client. It is called until the client was open once, and never again: what is left of earlier
   * requests would open one that the application has closed, and the process would never end.
   */
  constructor(
    readonly client: RedisClient,
    private open?: () => Promise<unknown>,
  ) {}

  /** @returns the client of an adapter of Keyv; undefined for an adapter of another store. */
  static of(adapter: Adapter): BorrowedClient | undefined {
    const { client, redis = client } = adapter;
    if (!isRedisClient(redis)) return undefined;
    const open = adapter.getClient && (async () => adapter.getClient?.());
    const borrowed = ofAdapters.get(adapter) ?? new BorrowedClient(redis, open);
    ofAdapters.set(adapter, borrowed);
    return borrowed;
  }

  /** True for a client that is closed, and not opened by `evaluate`. */
  get isClosed(): boolean {
    const isOpen = 'isOpen' in this.client ? this.client.isOpen : this.client.status !== 'end';
    if (isOpen) this.open = undefined;
    return !isOpen && !this.open;
  }

  async evaluate(script: string, key: string, args: string[]): Promise<unknown> {
    const { client } = this;
    if (!('isOpen' in client)) return client.eval(script, 1, key, ...args);
    // Shared: a client that connects counts as open, and keeps commands, for whose answers its close() would wait.
    this.opening ??= this.open?.().finally(() => {
      this.opening = undefined;
    });
    await this.opening;
    if (this.isClosed || !client.isOpen)
      throw new Error(
        'The Redis client is closed. Call connect() before the server listens, and close it when server.close() ' +
          'has finished.',
      );
    return client.eval(script, { keys: [key], arguments: args });
  }
}

/** A connection for subscriptions: a duplicate of the client. Only that of node-redis has what is optional here. */
interface Connection {
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
  unref?(): void;
  destroy?(): void;
  disconnect(): unknown;
  connect(): Promise<unknown>;
  on(event: 'error' | 'end' | 'message', listener: (first: unknown) => void): unknown;
  subscribe(channel: string, ...listener: readonly Listener[]): Promise<unknown>;
  unsubscribe(channel: string, ...listener: readonly Listener[]): Promise<unknown>;
}

type Listener = (message: unknown, channel: unknown) => void;

/** A client of a single node. */
type SingleClient = RedisClient & { duplicate(options: object): Connection };

/** Returns false on Sentinel and Cluster, whose subscriptions would have to follow the master, and for a pool. */
export function isSingle(client: RedisClient): client is SingleClient {
  if (!('duplicate' in client)) return false;
  if ('isOpen' in client) return 'unref' in client && !('slots' in client) && !('getSentinelNode' in client);
  return !client.isCluster && !(client as { readonly options?: { readonly sentinels?: unknown } }).options?.sentinels;
}

export const isCluster = (client: RedisClient): boolean => ('isOpen' in client ? 'slots' in client : client.isCluster);

/** The first option is for node-redis, the others for ioredis: a connection that breaks is not opened again. */
const OPTIONS = { disableOfflineQueue: true, lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null };

/**
 * Notifies all waiters of this process, over one connection that the first of them opens, and that closes with the
 * application's client. When it breaks, those who wait on it poll, and the next who waits opens another.
 */
export class Subscriber {
  private connection: Promise<Connection> | undefined;
  private readonly watchers = new Watchers();
  private readonly listener: readonly Listener[];

  constructor(private readonly client: SingleClient) {
    const notify: Listener = (_message, channel) => {
      this.watchers.notify(String(channel));
    };
    this.listener = 'isOpen' in client ? [notify] : [];
    client.on('end', () => {
      this.connection?.then(close, () => undefined);
      this.connection = undefined;
    });
  }

  /** Resolves when it listens. @throws Error if it cannot. */
  async watch(channel: string, onChange: () => void): Promise<() => void> {
    const connection = await (this.connection ??= this.open());
    // At once: another waiter that leaves meanwhile must not end the subscription.
    const remove = this.watchers.add(channel, onChange);
    try {
      await connection.subscribe(channel, ...this.listener);
    } catch (error) {
      remove();
      throw error;
    }
    return () => {
      if (remove()) connection.unsubscribe(channel, ...this.listener).catch(() => undefined);
    };
  }

  private open(): Promise<Connection> {
    const connection = this.client.duplicate(OPTIONS);
    const end = (): void => {
      close(connection);
      if (this.connection === opening) this.connection = undefined;
    };
    // Emitted when the connection breaks: by node-redis before it would connect again.
    connection.on('error', end);
    connection.on('end', end);
    connection.on('message', channel => {
      this.watchers.notify(String(channel));
    });
    connection.unref?.();
    const opening = connection.connect().then(() => {
      // That of node-redis reports no error when it was closed meanwhile.
      if (connection.isReady === false) throw new Error('Redis has not accepted a connection for notifications');
      return connection;
    });
    opening.catch(end);
    return opening;
  }
}

function close(connection: Connection): void {
  if (!connection.destroy) connection.disconnect();
  else if (connection.isOpen) connection.destroy();
}
