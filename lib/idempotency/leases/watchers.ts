/** The functions of this process that watch keys. */
export class Watchers {
  private readonly byKey = new Map<string, Set<() => void>>();

  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  keys(): readonly string[] {
    return [...this.byKey.keys()];
  }

  /** @returns a function that ends this watch, and no other of the same function. */
  add(key: string, onChange: () => void): () => void {
    const watchers = this.byKey.get(key) ?? new Set();
    const watcher = (): void => {
      onChange();
    };
    this.byKey.set(key, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.byKey.get(key) === watchers) this.byKey.delete(key);
    };
  }

  notify(key: string): void {
    for (const watcher of [...(this.byKey.get(key) ?? [])]) watcher();
  }
}
