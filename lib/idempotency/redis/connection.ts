/** The keys that a script uses. On a Cluster there is one. */
export type Keys = readonly [string, ...string[]];

/** The connection that leases need, over a client of any library. */
export interface RedisConnection {
  /** True for a client that the application has closed; false for one that has given up by itself. */
  readonly isClosed: boolean;
  /** True if the client keeps a dead connection that was never closed (neither FIN nor RST has arrived). */
  readonly keepsDeadConnection: boolean;
  /**
   * Lets the next script open a client that the application has closed. Called when a request begins, and not for what
   * is left of earlier ones: the process would never end. Missing where a closed client stays closed.
   */
  open?(): void;
  /** Runs a script. Opens a client that was never open. @throws Error for one that the application has closed. */
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
  /**
   * Closes a connection that gives commands the answers to others, or none, and opens a new one. Commands under way
   * fail, or are sent again.
   */
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
