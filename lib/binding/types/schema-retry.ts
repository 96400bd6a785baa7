import type { StandardSchemaV1 } from '@standard-schema/spec';
import { splitAtCommas } from '../reading/comma-separated';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { ownValue } from '../reading/own-value';
import { at, keysOf } from './schema-issues';

/** What a text or a file was read as, after the schema had refused it as it is. */
type ReadAs = 'JSON' | 'items' | 'file' | undefined;

/**
 * Replaces the text that an issue is about by the JSON that it looks like, or else by a collection, and a file by a
 * collection of one. Returns undefined if the issue is about something else, or if the collection would exceed the
 * limit.
 */
export function readAgain(plain: unknown, issue: StandardSchemaV1.Issue, location: Location): ReadAs | Invalid {
  const path = keysOf(issue);
  const keys = path.map(String);
  const last = keys.pop();
  const holder = keys.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? ownValue(value, key) : undefined),
    plain,
  );
  if (typeof holder !== 'object' || holder === null || last === undefined) return undefined;
  const sent = ownValue(holder, last);
  const put = (value: unknown): unknown => ((holder as Record<string, unknown>)[last] = value);
  if (typeof sent !== 'string') {
    if (!isFile(sent)) return undefined;
    put([sent]);
    return 'file';
  }
  const json = jsonLike(sent);
  if (json !== undefined) {
    const value = at(path, location, () => (json === TOO_DEEP ? location.failTooDeep() : plainJson(json, location)));
    return put(value) === INVALID ? INVALID : 'JSON';
  }
  const parts = splitAtCommas(sent);
  if (parts.length > location.limits.items) return undefined;
  put(parts);
  return 'items';
}

/** Tells a file from names below a name; a client that sends a name `fieldname` gains nothing. */
const isFile = (sent: unknown): boolean => isJsonObject(sent) && Object.hasOwn(sent, 'fieldname');

/**
 * Returns the issues whose values are still refused; for a text that is JSON, those of the JSON.
 * @param reread what the text of each first issue was read as.
 */
export function stillThere(
  first: readonly StandardSchemaV1.Issue[],
  reread: readonly unknown[],
  second: readonly StandardSchemaV1.Issue[],
): readonly StandardSchemaV1.Issue[] {
  const pathOf = (keys: readonly (string | number)[]): string => JSON.stringify(keys);
  const refused = new Set(second.map(issue => pathOf(keysOf(issue))));
  const inJson = new Set(first.filter((_issue, index) => reread[index] === 'JSON').map(issue => pathOf(keysOf(issue))));
  const isInJson = (issue: StandardSchemaV1.Issue): boolean =>
    keysOf(issue).some((_key, index, keys) => inJson.has(pathOf(keys.slice(0, index + 1))));
  const left = [
    ...first.filter((issue, index) => reread[index] !== 'JSON' && refused.has(pathOf(keysOf(issue)))),
    ...second.filter(isInJson),
  ];
  return left.length > 0 ? left : first;
}
