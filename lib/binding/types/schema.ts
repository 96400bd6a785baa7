import { isDeepStrictEqual } from 'node:util';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { splitAtCommas } from '../reading/comma-separated';
import { INVALID, UNDEFINED, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import type { Codec } from './codec';
import type { JsonSchema, Schemas } from './json-schema';
import { isAboutSent, isIndex, keysOf, meaningOf, refuse, withMembers } from './schema-issues';
import { plainNames, type SentNames } from './schema-names';
import { asArrays, hasGapsWithin, likeliest, validateShapes } from './schema-shapes';
import { writableAsSchema } from './schema-writer';
import { validateAgain, validateInstead, validateMadeUp, type Result, type Validate } from './schema-retry';

/**
 * The codec of a Standard Schema (standardschema.dev): zod, valibot, arktype and others. The schema gets JSON as it is,
 * one text as a string, and several as an array. Text that it refuses is tried again as JSON if it looks like JSON,
 * otherwise as a collection.
 *
 * The members of the codec are properties, because `nullable`, parsers and converters copy codecs by spreading.
 */
export class SchemaCodec implements Codec<unknown> {
  readonly name: string;
  readonly shape = 'schema';
  readonly takesEmptyText = true;
  readonly takesAnyText = true;
  readonly takesNull = true;

  constructor(private readonly standard: StandardSchemaV1) {
    this.name = standard['~standard'].vendor;
  }

  readonly schema = (schemas: Schemas): JsonSchema => schemas.ofStandard(this.standard);

  readonly toJson = (value: unknown): unknown => writableAsSchema(value, this.name);

  readonly fromJson = (value: unknown, location: Location): Awaitable<unknown> => {
    const plain = plainJson(value, location);
    return plain === INVALID ? INVALID : this.check(plain, location);
  };

  readonly fromText = (values: readonly string[], location: Location): Awaitable<unknown> => {
    const [text = ''] = values;
    if (values.length !== 1) return this.fromItems(values, location);
    const json = jsonLike(text);
    const here = location.stay();
    return after(this.validate(text), first => {
      if (!first.issues) return outputOf(first);
      if (json === TOO_DEEP) return here.failTooDeep();
      if (json !== undefined) return this.fromJsonText(json, first, here.asJson());
      const items = splitAtCommas(text);
      const parts = here.source === 'header' ? items.map(item => item.trim()) : items;
      // The schema may expect a collection.
      return here.isTooLong(parts.length) ? INVALID : after(validateMadeUp(this.validate, parts), orFirst(first, here));
    });
  };

  readonly fromItems = (values: readonly string[], location: Location): Awaitable<unknown> => {
    if (location.isTooLong(values.length)) return INVALID;
    const here = location.stay();
    const asArray: Validate = input => this.validateInstead(input);
    return after(validateAgain(asArray, [...values], here), result =>
      // The client has sent no array: a check that fails for one expects one text.
      result !== INVALID && isWithoutIssues(result) ? here.failCount(values.length, this.name) : valueOf(result, here),
    );
  };

  readonly fromSegments = (segments: readonly string[], location: Location): Awaitable<unknown> => {
    if (location.isTooLong(segments.length)) return INVALID;
    const here = location.stay();
    const text = segments.join('/');
    // Tries the likelier form first: text for one segment, an array for several.
    const [one, other] = segments.length === 1 ? [text, segments] : [segments, text];
    return after(this.validateInstead(one), first => {
      if (!first.issues) return outputOf(first);
      // A check that fails for both forms is the application's error.
      const second = isWithoutIssues(first) ? this.validate(other) : this.validateInstead(other);
      return after(second, orFirst(first, here));
    });
  };

  readonly fromNames = (tree: NameTree, location: Location, required: boolean): Awaitable<unknown> => {
    const names = likeliest(tree);
    const plain = location.isTooDeep() ? INVALID : plainNames(names, location);
    if (plain === INVALID) return INVALID;
    const here = location.stay();
    const read = (): Awaitable<unknown> =>
      after(validateShapes(this.validate, plain as object, names, here), one => valueOf(one.result, here, one.names));
    if (required) return read();
    const isMissing = after(this.isSameAsNothing(plain as object), isSame =>
      isSame && hasGapsWithin(tree) ? this.isSameAsNothing(plainNames(asArrays(tree), location.aside())) : isSame,
    );
    return after(isMissing, isNothing => (isNothing ? undefined : read()));
  };

  /** The schema's names are unknown, so any name below may be one of them. */
  readonly isSentBelow = (): boolean => true;

  readonly fromFiles = (files: readonly Express.Multer.File[], location: Location): Awaitable<unknown> => {
    if (files.length !== 1) return location.isTooLong(files.length) ? INVALID : this.check(files, location);
    const here = location.stay();
    return after(this.validate(files[0]), first =>
      first.issues ? after(validateMadeUp(this.validate, files), orFirst(first, here)) : outputOf(first),
    );
  };

  /** A coercing schema makes 0 or false of empty text, and the text 'null' of null. */
  readonly fromBlank = (blank: '' | null): Awaitable<unknown> =>
    after(this.validateInstead(blank), result => {
      const isMissing = result.issues || (blank === null ? result.value === 'null' : typeof result.value !== 'string');
      return isMissing ? undefined : result.value;
    });

  /** A coercing schema (z.coerce.string()) turns undefined into the text 'undefined'; treat that as missing. */
  readonly fromNothing = (): Awaitable<unknown> =>
    after(this.validateInstead(undefined), result =>
      result.issues || result.value === 'undefined' ? INVALID : result.value,
    );

  private readonly validate = (input: unknown): Awaitable<Result> => {
    const result = this.standard['~standard'].validate(input);
    // The standard allows only a Promise; a thenable is turned into one.
    return 'then' in result ? Promise.resolve(result) : result;
  };

  private validateInstead(input: unknown): Awaitable<Result> {
    return validateInstead(this.validate, input);
  }

  private check(input: unknown, location: Location): Awaitable<unknown> {
    const result = this.validate(input);
    const here = isPromise(result) ? location.stay() : location;
    return after(result, known => valueOf(known, here));
  }

  /**
   * Reads JSON that was sent as text: one object may be a collection of one.
   * @param first what the schema makes of the text itself.
   */
  private fromJsonText(json: unknown, first: Result, location: Location): Awaitable<unknown> {
    const plain = plainJson(json, location);
    if (plain === INVALID) return INVALID;
    return after(this.validateInstead(plain), one => {
      const likeliest = isWithoutIssues(one) ? first : one;
      if (!one.issues || !isJsonObject(plain)) return valueOf(likeliest, location);
      return after(validateMadeUp(this.validate, [plain]), several =>
        valueOf(isArrayMeant(one.issues, several) ? several : likeliest, location),
      );
    });
  }

  /**
   * Returns true if the names sent make no difference: the schema returns the same result as for no names, and refuses
   * none of the values sent. A schema that coerces has the same issue for a wrong value as for none.
   */
  private isSameAsNothing(plain: unknown): Awaitable<boolean> {
    if (typeof plain !== 'object' || plain === null) return false;
    // A schema may make another value each time, such as a random id.
    if (Object.keys(plain).length === 0) return true;
    return after(this.validateInstead(plain), given => {
      if (isWithoutIssues(given)) return false;
      if (given.issues && withMembers(given.issues).some(issue => isAboutSent(issue, plain))) return false;
      return after(this.validateInstead({}), none => isDeepStrictEqual(meaningOf(given), meaningOf(none)));
    });
  }
}

/**
 * Takes the result of another form of what was sent. If that is refused, too, the first issues are the right ones,
 * unless there are none, or the schema wants another form, and looks at the items of this one.
 */
const orFirst =
  (first: Result, location: Location) =>
  (second: Result): unknown =>
    valueOf(second.issues && !isWithoutIssues(first) && !areItemsRefused(first, second) ? first : second, location);

const areItemsRefused = (first: Result, second: Result): boolean =>
  first.issues?.every(isOfWhole) === true && second.issues?.some(issue => isIndex(keysOf(issue)[0])) === true;

/** Returns true if a schema refused an input without saying why: its own check failed for it. */
const isWithoutIssues = ({ issues }: Result): boolean => issues?.length === 0;

/** Returns the value of a result, or reports its issues. */
function valueOf(result: Result | Invalid, location: Location, names?: SentNames): unknown {
  if (result === INVALID) return INVALID;
  return result.issues ? refuse(result.issues, location, names) : outputOf(result);
}

const outputOf = ({ value }: StandardSchemaV1.SuccessResult<unknown>): unknown =>
  value === undefined ? UNDEFINED : value;

/** Returns true if a schema accepts an array of one object, or refuses only what is in the object. */
function isArrayMeant(one: readonly StandardSchemaV1.Issue[], { issues: several }: Result): boolean {
  return !several || (several.length > 0 && one.every(isOfWhole) && !several.some(isOfWhole));
}

const isOfWhole = (issue: StandardSchemaV1.Issue): boolean => keysOf(issue).length === 0;
