/** The part of a `Pool` of pg (node-postgres 8) that bindonce uses. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): void;
  readonly options?: { readonly max?: number | undefined };
  /** True once the application has called `end()`. */
  readonly ending?: boolean;
}

/** A connection of the pool, ours until it is released; a destroyed one does not go back. */
export interface PostgresClient {
  query(text: string): Promise<unknown>;
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  removeListener(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy?: boolean): void;
}

export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}
