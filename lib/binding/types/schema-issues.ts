import type { StandardSchemaV1 } from '@standard-schema/spec';
import { INVALID, type Invalid, type Location } from '../reading/location';

/** Most characters of a schema's own message that a response repeats. */
const LONGEST_MESSAGE = 300;

/**
 * Returns the keys of an issue's path. A part is a key or an object with one; the path may be an array subclass with a
 * `map` of its own.
 */
export function keysOf({ path = [] }: StandardSchemaV1.Issue): (string | number)[] {
  return Array.from(path, part => {
    const key = typeof part === 'object' ? part.key : part;
    return typeof key === 'symbol' ? String(key) : key;
  });
}

/** The indexes that were sent for the items of an array: gaps are closed up in it. */
export type SentKeys = WeakMap<object, readonly number[]>;

/**
 * Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated.
 * @param input what the schema got.
 */
export function refuse(
  issues: readonly StandardSchemaV1.Issue[],
  location: Location,
  input: unknown,
  sentKeys?: SentKeys,
): Invalid {
  if (issues.length === 0) location.fail('schema', 'The value is not valid.');
  // One more than are listed shows that the list is cut.
  for (const issue of issues.slice(0, location.limits.failures + 1)) {
    const detail = location.mayQuote ? issue.message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.';
    const keys = location.isSecret ? indexesOf(issue) : keysOf(issue);
    const path = sentKeys ? sentPath(keys, input, sentKeys) : keys;
    path.reduce<Location>((at, key) => at.below(key), location).fail('schema', detail);
  }
  return INVALID;
}

/** Translates a path in what the schema got to the indexes that were sent: `items[0]` may be `items[3]`. */
function sentPath(path: readonly (string | number)[], input: unknown, sentKeys: SentKeys): (string | number)[] {
  let here = input;
  return path.map(key => {
    const holder = Object(here) as Readonly<Record<string | number, unknown>>;
    here = holder[key];
    return sentKeys.get(holder)?.[Number(key)] ?? key;
  });
}

/**
 * Returns the indexes that a path begins with. A key may be content: that of a record can be the number of an account.
 */
function indexesOf(issue: StandardSchemaV1.Issue): number[] {
  const keys = keysOf(issue);
  const end = keys.findIndex(key => typeof key !== 'number');
  return (end < 0 ? keys : keys.slice(0, end)) as number[];
}
