import { PostgresListener } from './listener';
import type { PostgresPool } from './pool';

const shared = new WeakMap<PostgresPool, PostgresWakeUps>();

/** The same object for all leases on one pool, so that they take no more than one connection out of it. */
export function wakeUpsOf(pool: PostgresPool): PostgresWakeUps {
  const wakeUps = shared.get(pool) ?? new PostgresWakeUps(pool);
  shared.set(pool, wakeUps);
  return wakeUps;
}

/** All waiters of this process, on one connection that listens while there are any. */
export class PostgresWakeUps {
  private readonly watchers = new Map<string, Set<() => void>>();
  private listener: Promise<PostgresListener> | undefined;

  constructor(private readonly pool: PostgresPool) {}

  async watch(key: string, onChange: () => void): Promise<() => void> {
    // It is the one that the run is completed on.
    if (this.pool.options?.max === 1) throw new Error('bindonce: this pool has no connection to spare');
    const watchers = this.watchers.get(key) ?? new Set();
    this.watchers.set(key, watchers.add(onChange));
    const leave = (): void => {
      watchers.delete(onChange);
      if (watchers.size === 0 && this.watchers.get(key) === watchers) this.watchers.delete(key);
      if (this.watchers.size === 0) this.stopListening();
    };
    try {
      await (this.listener ??= this.listen());
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /** When it is lost, whoever waits asks once more, for what was announced meanwhile; whoever comes next listens anew, for all. */
  private listen(): Promise<PostgresListener> {
    const listener = PostgresListener.open(
      this.pool,
      key => {
        this.wake(key);
      },
      () => {
        if (this.listener === listener) this.listener = undefined;
        for (const key of [...this.watchers.keys()]) this.wake(key);
      },
    );
    return listener;
  }

  private wake(key: string): void {
    for (const onChange of [...(this.watchers.get(key) ?? [])]) onChange();
  }

  private stopListening(): void {
    this.listener?.then(
      listener => listener.stop(),
      () => undefined,
    );
    this.listener = undefined;
  }
}
