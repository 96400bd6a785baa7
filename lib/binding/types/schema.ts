import { isDeepStrictEqual } from 'node:util';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { splitAtCommas } from '../reading/comma-separated';
import { INVALID, UNDEFINED, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import type { Codec } from './codec';
import { keysOf, refuse } from './schema-issues';
import { plainNames } from './schema-names';
import { validateNames } from './schema-files';
import { validateAgain, validateInstead, type Result } from './schema-retry';

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
  const check = (input: unknown, location: Location): Awaitable<unknown> => {
    const result = validate(input);
    const here = isPromise(result) ? location.stay() : location;
    return after(result, known => valueOf(known, here));
  };
  /** Returns true if the names sent make no difference: the schema returns the same result as for no names. */
  const isSameAsNothing = (plain: unknown): Awaitable<boolean> =>
    after(validate(plain), given => after(validate({}), none => isDeepStrictEqual(meant(given), meant(none))));
  const fromJson = (value: unknown, location: Location): Awaitable<unknown> => {
    const plain = plainJson(value, location);
    return plain === INVALID ? INVALID : check(plain, location);
  };
  const fromItems = (values: readonly string[], location: Location): Awaitable<unknown> => {
    if (location.isTooLong(values.length)) return INVALID;
    const here = location.stay();
    return after(validateAgain(validate, [...values], here), result => valueOf(result, here));
  };
  /** Reads JSON that was sent as text: one object may be a collection of one. */
  const fromJsonText = (json: unknown, location: Location): Awaitable<unknown> => {
    const plain = plainJson(json, location);
    if (plain === INVALID) return INVALID;
    return after(validate(plain), one => {
      if (!one.issues || !isJsonObject(plain)) return valueOf(one, location);
      return after(validateInstead(validate, [plain]), several =>
        valueOf(isArrayMeant(one.issues, several) ? several : one, location),
      );
    });
  };

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
        if (!first.issues) return outputOf(first);
        if (json === TOO_DEEP) return here.failTooDeep();
        if (json !== undefined) return fromJsonText(json, here.asJson());
        const items = splitAtCommas(text);
        const parts = here.source === 'header' ? items.map(item => item.trim()) : items;
        if (here.isTooLong(parts.length)) return INVALID;
        // The schema may expect a collection. If it refuses that, too, its first issues are the right ones.
        return after(validate(parts), second => valueOf(second.issues ? first : second, here));
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
          ? after(validate(other), second => valueOf(second.issues ? first : second, here))
          : outputOf(first),
      );
    },
    fromNames(tree, location, required) {
      const plain = location.isTooDeep() ? INVALID : plainNames(tree, location);
      if (plain === INVALID) return INVALID;
      const here = location.stay();
      const read = (): Awaitable<unknown> =>
        after(validateNames(validate, plain as object, tree, here), result => valueOf(result, here, tree));
      return required ? read() : after(isSameAsNothing(plain), isSame => (isSame ? undefined : read()));
    },
    // The schema's names are unknown, so any name below may be one of them.
    isSentBelow: () => true,
    fromFiles(files, location) {
      if (files.length !== 1) return location.isTooLong(files.length) ? INVALID : check(files, location);
      const here = location.stay();
      return after(validate(files[0]), first =>
        first.issues
          ? after(validateInstead(validate, files), second => valueOf(second.issues ? first : second, here))
          : outputOf(first),
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

/** Returns the value of a result, or reports its issues. */
function valueOf(result: Result | Invalid, location: Location, tree?: NameTree): unknown {
  if (result === INVALID) return INVALID;
  return result.issues ? refuse(result.issues, location, tree) : outputOf(result);
}

const outputOf = ({ value }: StandardSchemaV1.SuccessResult<unknown>): unknown =>
  value === undefined ? UNDEFINED : value;

/** Returns true if a schema accepts an array of one object, or refuses only what is in the object. */
function isArrayMeant(one: readonly StandardSchemaV1.Issue[], { issues: several }: Result): boolean {
  if (!several) return true;
  const isOfWhole = (issue: StandardSchemaV1.Issue): boolean => keysOf(issue).length === 0;
  return several.length > 0 && one.every(isOfWhole) && !several.some(isOfWhole);
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
