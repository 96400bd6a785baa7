import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, recovering, type Awaitable } from '../../basics/awaitable';
import { splitAtCommas } from '../reading/comma-separated';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { ownValue } from '../reading/own-value';
import { at, isIndex, keysOf } from './schema-issues';
import type { SentNames } from './schema-names';

export type Result = StandardSchemaV1.Result<unknown>;
export type Validate = (input: unknown) => Awaitable<Result>;
type Issues = readonly StandardSchemaV1.Issue[];

/**
 * Validates what was not sent in this form: an array of one, the text in a file, undefined for nothing. A check that
 * was made for the form sent may fail for it with a TypeError, which means that the schema does not take this form.
 */
export const validateInstead = (validate: Validate, input: unknown): Awaitable<Result> =>
  recovering(
    () => validate(input),
    error => {
      if (error instanceof TypeError) return { issues: [] };
      throw error;
    },
  );

/**
 * Validates an array of what was not sent as one. An object type of some libraries takes arrays, as objects without its
 * names: an array that a schema also takes as an object with its indexes as names is none that was meant.
 */
export const validateMadeUp = (validate: Validate, items: readonly unknown[]): Awaitable<Result> =>
  after(validateInstead(validate, items), result =>
    result.issues
      ? result
      : after(validateInstead(validate, asObject(items)), object => (object.issues ? result : { issues: [] })),
  );

/**
 * Validates an object or an array of texts and files. A text that the schema refuses may be JSON, or a collection; one
 * file, and one JSON object, may be a collection of one.
 * @param plain is changed.
 * @param names the names that `plain` was made of, if it was.
 */
export function validateAgain(
  validate: Validate,
  plain: object,
  location: Location,
  names?: SentNames,
): Awaitable<Result | Invalid> {
  return after(validate(plain), first => {
    if (!first.issues) return first;
    const { issues } = first;
    const reread = issues.map(issue => readAgain(plain, issue, location, names));
    if (reread.includes(INVALID)) return INVALID;
    if (reread.every(how => how === undefined)) return first;
    const madeUp = issues.filter((_issue, at) => reread[at] === 'items' || reread[at] === 'file');
    return after(validateInstead(validate, plain), second => {
      if (!second.issues) return unlessObjects(second, validate, plain, madeUp);
      const left = { issues: stillThere(issues, reread, second.issues) };
      const refused = pathsOf(second.issues);
      const objects = issues.filter((issue, at) => reread[at] === 'JSON' && refused.has(pathOf(issue)));
      const put = objects.filter(issue => putInArray(plain, issue));
      if (put.length === 0) return left;
      return after(validateInstead(validate, plain), third => {
        if (!third.issues)
          return after(unlessObjects(third, validate, plain, madeUp), kept =>
            kept.issues ? kept : after(unlessObjects(third, validate, plain, put), last => (last.issues ? left : last)),
          );
        const refusedInArrays = pathsOf(third.issues);
        const isMeant = third.issues.length > 0 && !objects.some(issue => refusedInArrays.has(pathOf(issue)));
        return isMeant ? { issues: stillThere(issues, reread, third.issues) } : left;
      });
    });
  });
}

/**
 * Returns what a schema made of arrays that were made up, or the issues of those that it also takes as objects, as
 * `validateMadeUp` tells them.
 * @param madeUp the first issue of each value that is such an array now.
 */
function unlessObjects(accepted: Result, validate: Validate, plain: object, madeUp: Issues): Awaitable<Result> {
  const arrays = madeUp.flatMap(issue => {
    const target = targetOf(plain, issue);
    const array = target && ownValue(target.holder, target.key);
    return target && Array.isArray(array) ? [{ ...target, issue, array: array as readonly unknown[] }] : [];
  });
  if (arrays.length === 0) return accepted;
  for (const { holder, key, array } of arrays) holder[key] = asObject(array);
  return after(validateInstead(validate, plain), ({ issues }) => {
    // What the schema has accepted may be what it was given.
    for (const { holder, key, array } of arrays) holder[key] = array;
    if (issues?.length === 0) return accepted;
    const refused = new Set(issues?.flatMap(pathsTo));
    const taken = arrays.map(({ issue }) => issue).filter(issue => !refused.has(pathOf(issue)));
    return taken.length === 0 ? accepted : { issues: taken };
  });
}

/** Makes an object of an array, with its indexes as names. */
const asObject = (items: readonly unknown[]): object => Object.fromEntries(items.entries());

/** Returns the paths of issues as a set, because one request can have thousands of issues. */
const pathsOf = (issues: Issues): ReadonlySet<string> => new Set(issues.map(pathOf));

const pathOf = (issue: StandardSchemaV1.Issue): string => keysOf(issue).map(stepOf).join('');

const stepOf = (key: string | number): string => `${JSON.stringify(key)},`;

/** Replaces the JSON object that an issue is about by an array of it. Returns false if it is about something else. */
function putInArray(plain: object, issue: StandardSchemaV1.Issue): boolean {
  const target = targetOf(plain, issue);
  const value = target && ownValue(target.holder, target.key);
  if (!target || !isJsonObject(value)) return false;
  target.holder[target.key] = [value];
  return true;
}

interface Target {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

/** Finds the property or item that an issue is about; undefined for the whole value. */
function targetOf(plain: unknown, issue: StandardSchemaV1.Issue): Target | undefined {
  const keys = keysOf(issue).map(String);
  const key = keys.pop();
  const holder = keys.reduce<unknown>(
    (value, one) => (typeof value === 'object' && value !== null ? ownValue(value, one) : undefined),
    plain,
  );
  if (typeof holder !== 'object' || holder === null || key === undefined) return undefined;
  return { holder: holder as Record<string, unknown>, key };
}

/** What a text or a file was read as, after the schema had refused it as it is. */
type ReadAs = 'JSON' | 'items' | 'file' | undefined;

/**
 * Replaces the text that an issue is about by the JSON that it looks like, or else by a collection, and a file by a
 * collection of one. Returns undefined if the issue is about something else, or if the collection would exceed the
 * limit.
 */
function readAgain(
  plain: unknown,
  issue: StandardSchemaV1.Issue,
  location: Location,
  names?: SentNames,
): ReadAs | Invalid {
  const target = targetOf(plain, issue);
  if (!target) return undefined;
  const sent = ownValue(target.holder, target.key);
  const put = (value: unknown): unknown => (target.holder[target.key] = value);
  if (typeof sent !== 'string') {
    if (!isFile(sent)) return undefined;
    put([sent]);
    return 'file';
  }
  const json = jsonLike(sent);
  if (json !== undefined) {
    const value = at(issue, location, names, () =>
      json === TOO_DEEP ? location.failTooDeep() : plainJson(json, location),
    );
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
 * Returns the issues whose values are still refused; for a text that is JSON, those of the JSON, and for a collection
 * of which the schema refuses items, those of the items.
 * @param reread what the text of each first issue was read as.
 */
function stillThere(first: Issues, reread: readonly unknown[], second: Issues): Issues {
  const refused = new Set(second.flatMap(pathsTo));
  const collections = new Set(second.flatMap(collectionsAround));
  const isReplaced = first.map((issue, index) => {
    const how = reread[index];
    return how === 'JSON' || (how !== undefined && collections.has(pathOf(issue)));
  });
  const replaced = pathsOf(first.filter((_issue, index) => isReplaced[index]));
  const left = [
    ...first.filter((issue, index) => !isReplaced[index] && refused.has(pathOf(issue))),
    ...second.filter(issue => pathsTo(issue).some(path => replaced.has(path))),
  ];
  return left.length > 0 ? left : first;
}

/** Returns the path of an issue, and the paths of the objects and arrays around its value, without the whole. */
function pathsTo(issue: StandardSchemaV1.Issue): string[] {
  let path = '';
  const paths = keysOf(issue).map(key => (path += stepOf(key)));
  return [path, ...paths.slice(0, -1)];
}

/** Returns the paths of the arrays around the value of an issue, without the whole. */
function collectionsAround(issue: StandardSchemaV1.Issue): string[] {
  const [, ...keys] = keysOf(issue);
  const [, ...around] = pathsTo(issue);
  return around.filter((_path, index) => isIndex(keys[index]));
}
