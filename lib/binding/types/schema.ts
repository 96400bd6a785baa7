import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, type Awaitable } from '../reading/awaitable';
import { jsonLike, plainJson } from '../json/json-text';
import { splitAtCommas } from '../reading/comma-separated';
import { INVALID, type Invalid, type Place } from '../reading/place';
import type { Branch } from '../sources/branch';
import type { Codec } from './codec';

/** Characters of a schema's own message that are repeated in an answer. */
const LONGEST_MESSAGE = 300;

type Result = StandardSchemaV1.Result<unknown>;

/**
 * A Standard Schema (standardschema.dev): zod, valibot, arktype and others. It gets JSON as it is, and text as a string, or as
 * an array of strings where there are several. Text that it refuses is tried as JSON if it looks like it, else as a collection.
 */
export function schemaCodec(schema: StandardSchemaV1): Codec<unknown> {
  const validate = (input: unknown): Awaitable<Result> => {
    const result = schema['~standard'].validate(input);
    // The standard promises a Promise; what is merely like one is made one.
    return 'then' in result ? Promise.resolve(result) : result;
  };
  const check = (input: unknown, place: Place): Awaitable<unknown> => {
    const result = validate(input);
    const here = result instanceof Promise ? place.stay() : place;
    return after(result, known => (known.issues ? refuse(known.issues, here) : known.value));
  };
  const fromJson = (value: unknown, place: Place): Awaitable<unknown> => {
    const plain = plainJson(value, place);
    return plain === INVALID ? INVALID : check(plain, place);
  };

  return {
    name: schema['~standard'].vendor,
    shape: 'schema',
    takesEmptyText: true,
    takesNull: true,
    fromJson,
    fromText(values, place) {
      const [text = ''] = values;
      if (values.length !== 1) return check(values, place);
      const json = jsonLike(text);
      const here = place.stay();
      return after(validate(text), first => {
        if (!first.issues) return first.value;
        if (json !== undefined) return fromJson(json, here.asJson());
        // The schema may want a collection; if not, it has said what it wants.
        return after(validate(splitAtCommas(text)), second => (second.issues ? refuse(first.issues, here) : second.value));
      });
    },
    fromNames(branch, place) {
      const plain = place.isTooDeep() ? INVALID : plainNames(branch, place);
      return plain === INVALID ? INVALID : check(plain, place);
    },
    fromFiles: (files, place) => check(files.length === 1 ? files[0] : files, place),
    // A schema that makes text of everything makes 'undefined' of nothing; that is no value.
    fromNothing: () => after(validate(undefined), result => (result.issues || result.value === 'undefined' ? INVALID : result.value)),
  };
}

/** Issues keep their paths: a part is a key, or an object that has one. */
function refuse(issues: readonly StandardSchemaV1.Issue[], place: Place): Invalid {
  if (issues.length === 0) place.fail('schema', 'The value is not valid.');
  for (const { message, path = [] } of issues.slice(0, place.limits.failures)) {
    // A path may be an array of a class of its own, with another `map`.
    const keys = Array.from(path, part => (typeof part === 'object' ? part.key : part)).map(key => (typeof key === 'symbol' ? String(key) : key));
    for (const key of keys) place.enter(key);
    place.fail('schema', message.slice(0, LONGEST_MESSAGE));
    keys.forEach(() => { place.leave(); });
  }
  return INVALID;
}

/** The names below a branch as objects and arrays, for a schema that knows what it wants of them. All of a form is an object. */
function plainNames(branch: Branch, place: Place): unknown {
  if (branch.isLeaf && !branch.isRoot) return branch.values.length === 1 ? branch.values[0] : branch.values;
  if (branch.isArray && !branch.isRoot) {
    const indexed = branch.indexed(place);
    return indexed === INVALID ? INVALID : allValid([...branch.unindexed, ...indexed.map(([index, one]) => plainAt(index, one, place))]);
  }
  const entries = branch.below().map(([key, one]) => [key, plainAt(key, one, place)] as const);
  return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
}

function plainAt(key: string | number, branch: Branch, place: Place): unknown {
  place.enter(key);
  const plain = plainNames(branch, place);
  place.leave();
  return plain;
}

const allValid = (values: readonly unknown[]): unknown => (values.includes(INVALID) ? INVALID : values);
