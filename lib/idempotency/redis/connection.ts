/** The keys that a script uses. On a Cluster there is one. */
export type Keys = readonly [string, ...string[]];

/** The connection that leases need, over a client of any library. */
export interface RedisConnection {
  /** True for a client that the application has closed, as far as the client tells that from one that has given up. */
  readonly isClosed: boolean;
  /**
   * Opens a client that the application has closed, or that has given up. Called only when a request begins.
   * @returns a promise only if the client is not open.
   */
  open(): Promise<void> | undefined;
  /** Runs a script. Opens a client that was never open. */
  evaluate(script: string, keys: Keys, args: readonly string[]): Promise<unknown>;
  /**
   * Runs a script, and then waits on the same connection until `replicas` replicas have what the script wrote, for at
   * most `ms` milliseconds (redis.io, "WAIT"). Missing if the client cannot guarantee that both use one connection.
   * @returns the script's answer and the number of replicas, both as the client returns them.
   */
  evaluateAndWait?(
    script: string,
    keys: Keys,
    args: readonly string[],
    replicas: number,
    ms: number,
  ): Promise<readonly [answer: unknown, replicas: unknown]>;
  /** Closes a connection that gives commands the answers to others, and opens a new one. Commands under way fail. */
  reopen(): void;
  /** @param onMessage called with the channel of each message. */
  subscriber(onMessage: (channel: string) => void): RedisSubscriber;
}

/** Subscriptions, on a connection for nothing else. It closes by itself when the last one ends. */
export interface RedisSubscriber {
  /** False when it has closed, or has stopped trying to connect. */
  readonly isOpen: boolean;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}
