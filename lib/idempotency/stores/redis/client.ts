import { objectWith } from '../../../options/check';
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

export const isRedisClient = (value: unknown): value is RedisClient =>
  objectWith('', 'eval').accepts(value) && ['isOpen', 'isCluster'].some(name => name in Object(value));

/** An adapter of Keyv: its client is `redis` in `@keyv/valkey`. */
type Adapter = object & { client?: unknown; redis?: unknown; getClient?(): Promise<unknown> };

/** Of each adapter of Keyv: leases and responses know the same of its client. */
const ofAdapters = new WeakMap<object, BorrowedClient>();

/** A client of the application, which opens and closes it; but the adapter of `@keyv/redis` opens its client itself. */
export class BorrowedClient {
  private opening: Promise<unknown> | undefined;
  private wasOpen = false;

  constructor(
    readonly client: RedisClient,
    private readonly adapter: Adapter = {},
  ) {}

  /** @returns the client of an adapter of Keyv; undefined for an adapter of another store. */
  static of(adapter: Adapter): BorrowedClient | undefined {
    const { client, redis = client } = adapter;
    if (!isRedisClient(redis)) return undefined;
    const borrowed = ofAdapters.get(adapter) ?? new BorrowedClient(redis, adapter);
    ofAdapters.set(adapter, borrowed);
    return borrowed;
  }

  /**
   * That of an adapter is opened until it was open once, and never again: what is left of earlier requests would open
   * one that the application has closed, and the process would never end.
   * @throws Error for a client that is closed, and that no adapter has yet to open.
   */
  checkOpen(): void {
    const isOpen = 'isOpen' in this.client ? this.client.isOpen : this.client.status !== 'end';
    this.wasOpen ||= (isOpen && !this.opening) || !this.adapter.getClient;
    if (!isOpen && this.wasOpen)
      throw new Error(
        'The Redis client is closed. Call connect() before the server listens, and close it when server.close() ' +
          'has finished and all handlers have ended.',
      );
  }

  async evaluate(script: string, key: string, args: string[]): Promise<unknown> {
    this.checkOpen();
    const { client, adapter } = this;
    if (!('isOpen' in client)) return client.eval(script, 1, key, ...args);
    if (!client.isOpen) this.opening ??= adapter.getClient?.().finally(() => (this.opening = undefined));
    // A client that connects counts as open, and keeps commands, for whose answers its close() would wait.
    if (this.opening) await this.opening;
    return client.eval(script, { keys: [key], arguments: args });
  }
}

/** A connection for subscriptions: a duplicate of the client. Only that of node-redis has what is optional here. */
interface Connection {
  readonly isOpen?: boolean;
  unref?(): void;
  destroy?(): void;
  disconnect(): unknown;
  connect(): Promise<unknown>;
  on(event: 'error' | 'end' | 'message', listener: (first: unknown) => void): unknown;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string, listener: Listener): Promise<unknown>;
}

type Listener = (message: unknown, channel: unknown) => void;

/** A client of a single node. */
type SingleClient = RedisClient & { duplicate(options: object): Connection };

/** Returns false on Sentinel and Cluster, whose subscriptions would have to follow the master, and for a pool. */
export function isSingle(client: RedisClient): client is SingleClient {
  if ('isOpen' in client) return 'unref' in client;
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
  /** Called by node-redis; ioredis emits an event, and calls it without a channel when the command is carried out. */
  private readonly notify: Listener = (_message, channel) => {
    this.watchers.notify(String(channel));
  };

  constructor(private readonly client: SingleClient) {
    client.on('end', () => void this.connection?.then(close, () => undefined));
  }

  /** Resolves when it listens. @throws Error if it cannot. */
  async watch(channel: string, onChange: () => void): Promise<() => void> {
    const connection = await (this.connection ??= this.open());
    // At once: another waiter that leaves meanwhile must not end the subscription.
    const remove = this.watchers.add(channel, onChange);
    const subscribed = connection.subscribe(channel, this.notify);
    subscribed.catch(remove);
    await subscribed;
    return () => {
      if (remove()) connection.unsubscribe(channel, this.notify).catch(() => undefined);
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
    connection.on('message', this.notify.bind(this, undefined));
    connection.unref?.();
    const opening = connection.connect().then(() => connection);
    opening.catch(end);
    return opening;
  }
}

function close(connection: Connection): void {
  if (!connection.destroy) connection.disconnect();
  else if (connection.isOpen) connection.destroy();
}
