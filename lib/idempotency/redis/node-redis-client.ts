/** Called with each message of a channel. */
export type Listener = (message: unknown, channel: unknown) => void;

/** The part of a node-redis client (@redis/client 5 or 6: single node, Sentinel or Cluster) that bindonce uses. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  /** Missing on a Cluster. */
  readonly isReady?: boolean;
  connect(): Promise<unknown>;
  destroy(): unknown;
  on(event: 'error' | 'reconnecting' | 'connect' | 'ready' | 'end', listener: (error: unknown) => void): unknown;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  multi(): unknown;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string, listener: Listener): Promise<unknown>;
  duplicate?(): NodeRedisClient;
}
