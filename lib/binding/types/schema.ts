import { isDeepStrictEqual } from 'node:util';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, isPromise, recovering, type Awaitable } from '../../basics/awaitable';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { splitAtCommas } from '../reading/comma-separated';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { ownValue } from '../reading/own-value';
import type { NameTree } from '../reading/name-tree';
import type { Codec } from './codec';
import { failNameless } from './nameless';

/** Most characters of a schema's own message that a response repeats. */
const LONGEST_MESSAGE = 300;

type Result = StandardSchemaV1.Result<unknown>;

/**
 * Makes the codec of a Standard Schema (standardschema.dev): zod, valibot, arktype and others. The schema gets JSON as
 * it is, one text as a string, and several as an array. Text that it refuses is tried again as JSON if it looks like
 * JSON, otherwise as a collection.
 */
export function schemaCodec(schema: StandardSchemaV1): Codec<unknown> {
  const validate = (input: unknown): Awaitable<Result> => {
    const result = schema['~standard'].validate(input);
    // The standard allows only a Promise; a thenable is turned into one.
    return 'then' in result ? Promise.resolve(result) : result;
  };
  /** Validates one file as an array of one. A check that was made for one file may stumble over the array. */
  const retryAsArray = (input: unknown): Awaitable<Result> =>
    recovering(
      () => validate(input),
      error => {
        if (error instanceof TypeError) return { issues: [] };
        throw error;
      },
    );
  const check = (input: unknown, location: Location): Awaitable<unknown> => {
    const result = validate(input);
    const here = isPromise(result) ? location.stay() : location;
    return after(result, known => (known.issues ? refuse(known.issues, here) : known.value));
  };
  /** Returns true if the names sent make no difference: the schema returns the same result as for no names. */
  const isSameAsNothing = (plain: unknown): Awaitable<boolean> =>
    after(validate(plain), given => after(validate({}), none => isDeepStrictEqual(meant(given), meant(none))));
  const fromJson = (value: unknown, location: Location): Awaitable<unknown> => {
    const plain = plainJson(value, location);
    return plain === INVALID ? INVALID : check(plain, location);
  };
  const fromItems = (values: readonly string[], location: Location): Awaitable<unknown> =>
    location.isTooLong(values.length) ? INVALID : check(values, location);

  return {
    name: schema['~standard'].vendor,
    shape: 'schema',
    takesEmptyText: true,
    takesAnyText: true,
    takesNull: true,
    schema: schemas => schemas.ofStandard(schema),
    fromJson,
    fromText(values, location) {
      const [text = ''] = values;
      if (values.length !== 1) return fromItems(values, location);
      const json = jsonLike(text);
      const here = location.stay();
      return after(validate(text), first => {
        if (!first.issues) return first.value;
        if (json === TOO_DEEP) return here.failTooDeep();
        if (json !== undefined) return fromJson(json, here.asJson());
        const items = splitAtCommas(text);
        const parts = here.source === 'header' ? items.map(item => item.trim()) : items;
        if (here.isTooLong(parts.length)) return INVALID;
        // The schema may expect a collection. If it refuses that, too, its first issues are the right ones.
        return after(validate(parts), second => (second.issues ? refuse(first.issues, here) : second.value));
      });
    },
    fromItems,
    fromSegments(segments, location) {
      if (location.isTooLong(segments.length)) return INVALID;
      const here = location.stay();
      const text = segments.join('/');
      // Tries the likelier form first: text for one segment, an array for several.
      const [one, other] = segments.length === 1 ? [text, segments] : [segments, text];
      return after(validate(one), first =>
        first.issues
          ? after(validate(other), second => (second.issues ? refuse(first.issues, here) : second.value))
          : first.value,
      );
    },
    fromNames(tree, location, required) {
      const plain = location.isTooDeep() ? INVALID : plainNames(tree, location);
      if (plain === INVALID) return INVALID;
      const here = location.stay();
      const read = (): Awaitable<unknown> =>
        after(validate(plain), first => {
          if (!first.issues) return first.value;
          // One text may hold JSON, or a collection, and one file may be a collection of one.
          const reread = first.issues.map(issue => readAgain(plain, issue, here));
          if (reread.includes(INVALID)) return INVALID;
          if (reread.every(how => how === undefined)) return refuse(first.issues, here);
          const again = reread.includes('file') ? retryAsArray : validate;
          return after(again(plain), second =>
            second.issues ? refuse(stillThere(first.issues, reread, second.issues), here) : second.value,
          );
        });
      return required ? read() : after(isSameAsNothing(plain), isSame => (isSame ? undefined : read()));
    },
    // The schema's names are unknown, so any name below may be one of them.
    isSentBelow: () => true,
    fromFiles(files, location) {
      if (files.length !== 1) return location.isTooLong(files.length) ? INVALID : check(files, location);
      const here = location.stay();
      return after(validate(files[0]), first =>
        first.issues
          ? after(retryAsArray(files), second => (second.issues ? refuse(first.issues, here) : second.value))
          : first.value,
      );
    },
    // A coercing schema makes 0 or false of empty text, and the text 'null' of null.
    fromBlank: blank =>
      after(validate(blank), result => {
        const isMissing =
          result.issues || (blank === null ? result.value === 'null' : typeof result.value !== 'string');
        return isMissing ? undefined : result.value;
      }),
    // A coercing schema (z.coerce.string()) turns undefined into the text 'undefined'; treat that as missing.
    fromNothing: () =>
      after(validate(undefined), result => (result.issues || result.value === 'undefined' ? INVALID : result.value)),
  };
}

/** Reduces a schema's result to what the standard defines. */
function meant({
  issues,
  value,
}: {
  issues?: readonly StandardSchemaV1.Issue[] | undefined;
  value?: unknown;
}): unknown {
  return issues ? issues.map(issue => [keysOf(issue), issue.message]) : [value];
}

/** What a text or a file was read as, after the schema had refused it as it is. */
type ReadAs = 'JSON' | 'items' | 'file' | undefined;

/**
 * Replaces the text that an issue is about by the JSON that it looks like, or else by a collection, and a file by a
 * collection of one. Returns undefined if the issue is about something else, or if the collection would exceed the
 * limit.
 */
function readAgain(plain: unknown, issue: StandardSchemaV1.Issue, location: Location): ReadAs | Invalid {
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

/** Calls `work` with the location moved to a path below it. */
function at<T>(path: readonly (string | number)[], location: Location, work: () => T): T {
  for (const key of path) location.enter(key);
  const result = work();
  path.forEach(() => {
    location.leave();
  });
  return result;
}

/**
 * Returns the issues whose values are still refused; for a text that is JSON, those of the JSON.
 * @param reread what the text of each first issue was read as.
 */
function stillThere(
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

/**
 * Returns the keys of an issue's path. A part is a key or an object with one; the path may be an array subclass with a
 * `map` of its own.
 */
function keysOf({ path = [] }: StandardSchemaV1.Issue): (string | number)[] {
  return Array.from(path, part => (typeof part === 'object' ? part.key : part)).map(key =>
    typeof key === 'symbol' ? String(key) : key,
  );
}

/** Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated. */
function refuse(issues: readonly StandardSchemaV1.Issue[], location: Location): Invalid {
  if (issues.length === 0) location.fail('schema', 'The value is not valid.');
  for (const issue of issues.slice(0, location.limits.failures)) {
    const detail = location.mayQuote ? issue.message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.';
    at(keysOf(issue), location, () => location.fail('schema', detail));
  }
  return INVALID;
}

/** Converts the names below to objects and arrays, for a schema to check. A whole form is always an object. */
function plainNames(tree: NameTree, location: Location): unknown {
  if (tree.isLeaf && !tree.isRoot) {
    const { values } = tree;
    return values.length === 1 && tree.isOneValue ? values[0] : location.isTooLong(values.length) ? INVALID : values;
  }
  if (location.isTooDeep()) return INVALID;
  // A value must not be lost silently: the schema would never see it.
  if (tree.hasNameless && !tree.isRoot) return failNameless(location);
  if (tree.isArray && !tree.isRoot) {
    const indexed = tree.indexed(location);
    if (indexed === INVALID || location.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
    return allValid([...tree.unindexed, ...indexed.map(([index, one]) => plainAt(index, one, location))]);
  }
  const entries = tree.below().map(([key, one]) => [key, plainAt(key, one, location)] as const);
  return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
}

function plainAt(key: string | number, tree: NameTree, location: Location): unknown {
  location.enter(key);
  const plain = plainNames(tree, location);
  location.leave();
  return plain;
}

const allValid = (values: readonly unknown[]): unknown => (values.includes(INVALID) ? INVALID : values);
