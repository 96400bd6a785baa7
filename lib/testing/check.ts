import { strict as assert } from 'node:assert';
import type { Acquisition } from '../idempotency/leases/lease-store';
import { shown, type KeyView } from './key-view';

/** Milliseconds: nothing expires while a fact is tried. */
export const LONG = 60_000;
/** Milliseconds: long enough for a step to be carried out meanwhile, short enough to be waited for. */
export const SHORT = 60;

/** The token that asks who holds a key. */
const ASKING = 'who has it';

/** Compares what a store does with what it promises. Every failure names the promise and the calls that led to it. */
export class Check {
  constructor(
    private readonly promise: string,
    private readonly calls: readonly string[],
    private readonly view: KeyView,
  ) {}

  answer(answer: unknown, expected: unknown): void {
    // A row of a database may have another prototype, or none.
    const plain = typeof answer === 'object' && answer !== null ? { ...answer } : answer;
    assert.deepEqual(plain, expected, this.broken(`The last call answered ${shown(answer)}`, shown(expected)));
  }

  /** Expects that `token` holds the lease, for nearly all of the time {@link LONG}. */
  running(answer: Acquisition, token: string): void {
    const msLeft = answer.kind === 'running' ? answer.msLeft : undefined;
    const isLong = typeof msLeft === 'number' && msLeft > LONG / 2 && msLeft <= LONG;
    const expected = { kind: 'running', token, msLeft: isLong ? msLeft : `more than ${LONG / 2}, at most ${LONG}` };
    this.answer(answer, expected);
  }

  /** Expects that the key is held so: "running a", "done a", or "free". */
  async holder(expected: string): Promise<void> {
    const holder = await this.seenHolder();
    assert.equal(holder, expected, this.broken(`Afterwards the key is "${holder}"`, `"${expected}"`));
  }

  /** Asks for the holder, without a change. */
  async seenHolder(): Promise<string> {
    const seen = await this.view.acquire(ASKING, LONG);
    if (seen.kind !== 'acquired') return `${seen.kind} ${seen.token}`;
    await this.view.release(ASKING);
    return 'free';
  }

  that(condition: boolean, found: string, expected: string): void {
    assert.ok(condition, this.broken(found, expected));
  }

  private broken(found: string, expected: string): string {
    const calls = this.calls.length > 12 ? ['…', ...this.calls.slice(-12)] : this.calls;
    return [
      `The lease store breaks a promise: ${this.promise}.`,
      `${found}; expected ${expected}.`,
      'Calls:',
      ...calls,
    ].join('\n  ');
  }
}
