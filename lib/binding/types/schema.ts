import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, type Awaitable } from '../awaitable';
import { jsonLike, plainJson } from '../json-text';
import { INVALID, type Invalid, type Place } from '../place';
import type { Branch } from '../sources/branch';
import type { Codec } from './codec';

/** Characters of a schema's own message that are repeated in an answer. */
const LONGEST_MESSAGE = 300;

type Result = StandardSchemaV1.Result<unknown>;

/**
 * A Standard Schema (standardschema.dev): zod, valibot, arktype and others. It gets JSON as it is, and text as a string, or as
 * an array of strings where there are several; text that it refuses and that looks like JSON is tried as JSON.
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
    return after(result, ({ issues, ...rest }) => (issues ? refuse(issues, here) : (rest as { value: unknown }).value));
  };
  const fromJson = (value: unknown, place: Place): Awaitable<unknown> => check(plainJson(value), place);

  return {
    name: schema['~standard'].vendor,
    shape: 'schema',
    takesEmptyText: true,
    takesNull: true,
    fromJson,
    fromText(values, place) {
      const [text = ''] = values;
      const json = values.length === 1 ? jsonLike(text) : undefined;
      const input = values.length === 1 ? text : values;
      if (json === undefined) return check(input, place);
      const here = place.stay();
      return after(validate(input), result => (result.issues ? fromJson(json, here.asJson()) : result.value));
    },
    fromNames: (branch, place) => (place.isTooDeep() ? INVALID : check(plainNames(branch), place)),
    fromFiles: (files, place) => check(files.length === 1 ? files[0] : files, place),
    // A schema that makes text of everything makes 'undefined' of nothing; that is no value.
    fromNothing: () => after(validate(undefined), result => (result.issues || result.value === 'undefined' ? INVALID : result.value)),
  };
}

/** Issues keep their paths: a part is a key, or an object that has one. */
function refuse(issues: readonly StandardSchemaV1.Issue[], place: Place): Invalid {
  for (const { message, path = [] } of issues.slice(0, place.limits.failures)) {
    // A path may be an array of a class of its own, with another `map`.
    const keys = Array.from(path, part => (typeof part === 'object' ? part.key : part)).map(key => (typeof key === 'symbol' ? String(key) : key));
    for (const key of keys) place.enter(key);
    place.fail('schema', message.slice(0, LONGEST_MESSAGE));
    keys.forEach(() => { place.leave(); });
  }
  return INVALID;
}

/** The names below a branch as objects and arrays, for a schema that knows what it wants of them. */
function plainNames(branch: Branch): unknown {
  if (branch.isLeaf) return branch.values.length === 1 ? branch.values[0] : branch.values;
  const below = branch.below();
  if (below.every(([key]) => /^\d*$/.test(key))) return [...branch.values, ...below.toSorted(([a], [b]) => Number(a) - Number(b)).flatMap(([key, one]) => (key === '' ? one.values : [plainNames(one)]))];
  return Object.fromEntries(below.map(([key, one]) => [key, plainNames(one)]));
}
