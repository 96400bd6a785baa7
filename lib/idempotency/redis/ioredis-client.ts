/** The part of a client of ioredis or iovalkey (single node, Sentinel or Cluster) that bindonce uses. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster: boolean;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  pipeline(): unknown;
  on(event: 'error' | 'connect' | 'ready' | 'message', listener: (first: unknown) => void): unknown;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}
