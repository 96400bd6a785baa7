import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';
import type { Acquisition, LeaseStore } from '../idempotency/leases/lease-store';

/** One key of a store, as one process sees it. Notes each call with its answer, for the message of a failure. */
export class KeyView {
  constructor(
    private readonly store: LeaseStore,
    private readonly name: string,
    private readonly key: string,
    private readonly calls: string[],
  ) {}

  async acquire(token: string, ms: number): Promise<Acquisition> {
    return acquisition(this.noted('acquire', [token, ms], await this.store.acquire(this.key, token, ms)));
  }

  async renew(token: string, ms: number): Promise<boolean> {
    return this.noted('renew', [token, ms], await this.store.renew(this.key, token, ms));
  }

  async complete(token: string, ms: number): Promise<boolean> {
    return this.noted('complete', [token, ms], await this.store.complete(this.key, token, ms));
  }

  async release(token: string): Promise<boolean> {
    return this.noted('release', [token], await this.store.release(this.key, token));
  }

  /** @throws Error for a store without `watch`. */
  async watch(onChange: () => void): Promise<() => void> {
    if (!this.store.watch)
      throw new Error('The store has no watch(), which is optional. Pass { watches: false } to leave its facts out.');
    const stop = await this.store.watch(this.key, onChange);
    this.calls.push(`${this.name}.watch(${shown(this.key)}, onChange)`);
    return stop;
  }

  private noted<T>(method: string, args: readonly unknown[], answer: T): T {
    this.calls.push(`${this.name}.${method}(${[this.key, ...args].map(shown).join(', ')}) → ${shown(answer)}`);
    return answer;
  }
}

/** Returns an answer to `acquire`. @throws AssertionError for a value that is not one, from a store without types. */
export function acquisition(answer: Acquisition | null | undefined): Acquisition {
  const kinds = ['acquired', 'running', 'done'];
  if (answer && kinds.includes(answer.kind)) return answer;
  const expected = `{ kind: ${kinds.map(shown).join(' or ')}, … }`;
  const message = `The lease store breaks a promise: acquire answers ${expected}, not ${shown(answer)}.`;
  throw new AssertionError({ message, stackStartFn: acquisition });
}

/** Describes a key, a token or an answer for a message. */
export function shown(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity });
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
