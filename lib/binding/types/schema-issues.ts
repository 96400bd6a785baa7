import type { StandardSchemaV1 } from '@standard-schema/spec';
import { INVALID, type Invalid, type Location } from '../reading/location';

/** Most characters of a schema's own message that a response repeats. */
const LONGEST_MESSAGE = 300;

/**
 * Returns the keys of an issue's path. A part is a key or an object with one; the path may be an array subclass with a
 * `map` of its own.
 */
export function keysOf({ path = [] }: StandardSchemaV1.Issue): (string | number)[] {
  return Array.from(path, part => (typeof part === 'object' ? part.key : part)).map(key =>
    typeof key === 'symbol' ? String(key) : key,
  );
}

/** Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated. */
export function refuse(issues: readonly StandardSchemaV1.Issue[], location: Location): Invalid {
  if (issues.length === 0) location.fail('schema', 'The value is not valid.');
  // One more than are listed shows that the list is cut.
  for (const issue of issues.slice(0, location.limits.failures + 1)) {
    const detail = location.mayQuote ? issue.message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.';
    at(keysOf(issue), location, () => location.fail('schema', detail));
  }
  return INVALID;
}

/** Calls `work` with the location moved to a path below it. */
export function at<T>(path: readonly (string | number)[], location: Location, work: () => T): T {
  for (const key of path) location.enter(key);
  const result = work();
  path.forEach(() => {
    location.leave();
  });
  return result;
}
