/** What leases need of a Redis client, whoever made it. */
export interface RedisConnection {
  /** Opens a client that the application has closed, or that has given up: for a request that begins, and for nothing else. */
  open(): Promise<void>;
  /** Runs a script that touches one key. A client that was never open is opened. */
  evaluate(script: string, key: string, args: readonly string[]): Promise<unknown>;
  /**
   * The same, and then waits on the same connection until `replicas` replicas have what the script wrote, for `ms` milliseconds
   * at the most (redis.io, "WAIT"). Missing where the client cannot promise that both go over one connection.
   * @returns the script's answer, and how many replicas have it, both as the client hands them on.
   */
  evaluateAndWait?(
    script: string,
    key: string,
    args: readonly string[],
    replicas: number,
    ms: number,
  ): Promise<readonly [answer: unknown, replicas: unknown]>;
  /** Closes a connection that gives commands the answers to others, and opens a new one. What waits for an answer on it fails. */
  reopen(): void;
  /** @param onMessage called with the channel of each message. */
  subscriber(onMessage: (channel: string) => void): RedisSubscriber;
}

/** Subscriptions, on a connection that can do nothing else. It closes by itself when the last one ends. */
export interface RedisSubscriber {
  /** False when it has closed, or has given up to connect again. */
  readonly isOpen: boolean;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}
