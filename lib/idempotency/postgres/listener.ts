import type { PostgresClient, PostgresNotification, PostgresPool } from './pool';
import { CHANNEL } from './statements';

/** A connection of the pool that listens for the ends of runs until it is stopped or breaks. */
export class PostgresListener {
  private ours = true;

  private constructor(
    private readonly client: PostgresClient,
    private readonly onEnd: (key: string) => void,
    private readonly onLost: () => void,
  ) {
    client.on('notification', this.hear);
    // Without a listener an 'error' event ends the process.
    client.on('error', this.lose);
    client.on('end', this.lose);
  }

  /**
   * Resolves when it listens.
   * @param onEnd called with the key of a run that has ended.
   * @param onLost called once if the connection breaks, or could not be opened.
   */
  static async open(pool: PostgresPool, onEnd: (key: string) => void, onLost: () => void): Promise<PostgresListener> {
    let listener: PostgresListener | undefined;
    try {
      listener = await PostgresListener.takeConnection(pool, onEnd, onLost);
      await listener.client.query(`LISTEN ${CHANNEL}`);
      return listener;
    } catch (error) {
      if (listener) listener.lose();
      else onLost();
      throw error;
    }
  }

  /** Uses the callback form: with a promise, an 'error' emitted before the await resumes would have no listener. */
  private static takeConnection(
    pool: PostgresPool,
    onEnd: (key: string) => void,
    onLost: () => void,
  ): Promise<PostgresListener> {
    return new Promise((resolve, reject) => {
      pool.connect((error, client) => {
        if (client) resolve(new PostgresListener(client, onEnd, onLost));
        else reject(error ?? new Error('The pool has no connection'));
      });
    });
  }

  /** Stops listening, and gives the connection back to the pool. */
  async stop(): Promise<void> {
    try {
      await this.client.query(`UNLISTEN ${CHANNEL}`);
      this.giveBack(false);
    } catch {
      this.giveBack(true);
    }
  }

  private readonly hear = ({ channel, payload }: PostgresNotification): void => {
    if (channel === CHANNEL && payload !== undefined) this.onEnd(payload);
  };

  private readonly lose = (): void => {
    if (this.giveBack(true)) this.onLost();
  };

  private giveBack(destroy: boolean): boolean {
    if (!this.ours) return false;
    this.ours = false;
    this.client.release(destroy);
    this.client.removeListener('notification', this.hear);
    // A connection that is being destroyed can still emit 'error', so that listener stays.
    if (destroy) return true;
    this.client.removeListener('error', this.lose);
    this.client.removeListener('end', this.lose);
    return true;
  }
}
