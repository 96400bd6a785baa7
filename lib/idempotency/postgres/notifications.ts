import { outsideRequests } from '../../basics/outside-requests';
import { Watchers } from '../leases/watchers';
import { PostgresListener } from './listener';
import type { PostgresPool } from './pool';

const shared = new WeakMap<PostgresPool, PostgresNotifications>();

/** Returns the same object for all leases on one pool, so that they use at most one of its connections. */
export function notificationsOf(pool: PostgresPool): PostgresNotifications {
  const notifications = shared.get(pool) ?? new PostgresNotifications(pool);
  shared.set(pool, notifications);
  return notifications;
}

/** Notifies all waiters of this process, over one connection that listens while there are any. */
export class PostgresNotifications {
  private readonly watchers = new Watchers();
  private listener: Promise<PostgresListener> | undefined;

  constructor(private readonly pool: PostgresPool) {}

  async watch(key: string, onChange: () => void): Promise<() => void> {
    // The only connection is needed to complete the run; listening on it would block that.
    if (this.pool.options?.max === 1) throw new Error('bindonce: this pool has no connection to spare');
    const remove = this.watchers.add(key, onChange);
    const leave = (): void => {
      remove();
      if (this.watchers.isEmpty) this.stopListening();
    };
    try {
      await (this.listener ??= outsideRequests(() => this.listen()));
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /**
   * Opens the listener. If its connection is lost, every waiter polls once for what it may have missed; the next
   * watch() opens a new listener for all keys.
   */
  private listen(): Promise<PostgresListener> {
    const listener = PostgresListener.open(
      this.pool,
      key => {
        this.watchers.notify(key);
      },
      () => {
        if (this.listener === listener) this.listener = undefined;
        for (const key of this.watchers.keys()) this.watchers.notify(key);
      },
    );
    return listener;
  }

  private stopListening(): void {
    this.listener?.then(
      listener => listener.stop(),
      () => undefined,
    );
    this.listener = undefined;
  }
}
