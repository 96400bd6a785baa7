import type { StandardSchemaV1 } from '@standard-schema/spec';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { sentPath, type SentNames } from './schema-names';

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

/**
 * Returns true for the key of an item. The objects of some libraries take arrays, too: they have issues of names, such
 * as '0'.
 */
export const isIndex = (key: string | number | undefined): boolean => typeof key === 'number';

/**
 * Adds the issues that the members of a union have: zod keeps them in `errors`, one list for each member, and valibot
 * in `issues`. Their paths begin at the union.
 */
export function withMembers(issues: readonly StandardSchemaV1.Issue[]): readonly StandardSchemaV1.Issue[] {
  return issues.flatMap(issue => {
    const { errors = [], issues: inner = [] } = issue as { errors?: unknown; issues?: unknown };
    const members = withMembers([errors, inner].flat(2).filter(isIssue));
    return [issue, ...members.map(({ message, path = [] }) => ({ message, path: [...keysOf(issue), ...path] }))];
  });
}

const isIssue = (one: unknown): one is StandardSchemaV1.Issue => typeof one === 'object' && one !== null;

/** Reduces a schema's result to what tells it from another one. */
export const meaningOf = (result: StandardSchemaV1.Result<unknown>): unknown =>
  result.issues ? withMembers(result.issues).map(issue => [keysOf(issue), issue.message]) : [result.value];

/** Returns true if an issue is about a value in what was sent, or about a part of it, and not about the whole. */
export function isAboutSent(issue: StandardSchemaV1.Issue, sent: object): boolean {
  let value: unknown = sent;
  for (const key of keysOf(issue)) {
    // The path leads into a text that the schema has parsed.
    if (typeof value !== 'object' || value === null) return true;
    if (!Object.hasOwn(value, key)) return false;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value !== sent;
}

/**
 * Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated.
 * @param names the names that the value was made of, if it was.
 */
export function refuse(issues: readonly StandardSchemaV1.Issue[], location: Location, names?: SentNames): Invalid {
  if (issues.length === 0) location.fail('schema', 'The value is not valid.');
  // One more than are listed shows that the list is cut.
  for (const issue of issues.slice(0, location.limits.failures + 1)) {
    const detail = location.mayQuote ? issue.message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.';
    at(issue, location, names, () => location.fail('schema', detail));
  }
  return INVALID;
}

/**
 * Returns the indexes that a path begins with. A key may be content: that of a record can be the number of an account.
 */
function indexesOf(issue: StandardSchemaV1.Issue): number[] {
  const keys = keysOf(issue);
  const end = keys.findIndex(key => typeof key !== 'number');
  return (end < 0 ? keys : keys.slice(0, end)) as number[];
}

/** Calls `work` with the location moved to the value that an issue is about. */
export function at<T>(
  issue: StandardSchemaV1.Issue,
  location: Location,
  names: SentNames | undefined,
  work: () => T,
): T {
  const keys = location.isSecret ? indexesOf(issue) : keysOf(issue);
  const path = names ? sentPath(keys, names) : keys;
  for (const key of path) location.enter(key);
  const result = work();
  path.forEach(() => {
    location.leave();
  });
  return result;
}
