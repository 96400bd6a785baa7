import { randomBytes } from 'node:crypto';
import { ExactNumber } from '../../body/content/exact-json';

/** Makes a number of JSON of its digits (Node 22 and later). */
const { rawJSON } = JSON as { readonly rawJSON?: (digits: string) => unknown };

/** Marks the digits of a number in JSON text, where there is no `JSON.rawJSON`. No client knows it. */
const MARK = randomBytes(16).toString('hex');
const MARKED = new RegExp(`"${MARK}([-+.eE\\d]+)"`, 'g');

/** A number that `exactText` writes with all its digits. */
export class WrittenNumber extends ExactNumber {
  toJSON(): unknown {
    return rawJSON ? rawJSON(this.value) : `${MARK}${this.value}`;
  }
}

/**
 * Does what `JSON.stringify` does, and writes exact numbers and bigints with their digits.
 * @param replacer gets such numbers as they are.
 */
export function exactText(
  value: unknown,
  spaces?: string | number,
  replacer?: (key: string, value: unknown) => unknown,
): string | undefined {
  const replace =
    replacer &&
    function (this: Readonly<Record<string, unknown>>, key: string, one: unknown): unknown {
      const own = this[key];
      const replaced = replacer.call(this, key, own instanceof WrittenNumber ? own : one);
      const exact = typeof replaced === 'bigint' ? new WrittenNumber(String(replaced)) : replaced;
      return exact instanceof WrittenNumber ? exact.toJSON() : exact;
    };
  const text = JSON.stringify(value, replace, spaces) as string | undefined;
  return rawJSON ? text : text?.replace(MARKED, '$1');
}
