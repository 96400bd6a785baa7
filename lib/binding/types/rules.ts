import { isPromise } from '../../basics/awaitable';
import { checkOptions, describe, fn, type Rule as Allowed } from '../../options/check';
import { INVALID, withoutMark, type Location } from '../reading/location';
import type { FileCodec, ListCodec, Rule, ScalarCodec } from './codec';
import type { Codecs, ValueType } from './property-type';
import type { JsonSchema } from './schema-shape';

/** A rule of the application: true, or what is wrong with the value. */
type Check<T> = (value: T) => true | string | Promise<true | string>;

/** What every type of bindonce has. */
export interface CommonRules<T> {
  /**
   * Called with each value that keeps the other rules. Returns true, or a text that says what is wrong, or a promise
   * of one. What it throws is an error of the application.
   */
  check?: Check<T>;
}

/** A type whose values can have rules. */
export interface RuledType<T, R extends object = object> extends ValueType<T> {
  /**
   * Returns the same type with rules, which hold in every source and stand in the API description. Of one limit that is
   * set twice the later counts; checks add up.
   * @throws TypeError for a rule that the type does not have, a wrong limit, or limits that contradict each other.
   */
  with(rules: R & CommonRules<T>): RuledType<T, R>;
}

type RuledCodec = ScalarCodec | ListCodec | FileCodec;

/** What a rule means: its condition, its keywords in JSON Schema, and what it changes in how values are read. */
interface Meaning {
  readonly rule?: Rule | undefined;
  readonly schema?: JsonSchema | undefined;
  readonly reading?: ((codec: ScalarCodec) => Partial<ScalarCodec>) | undefined;
}

/** A rule that a type may have: the values that its limit may have, and what it means. */
export interface Kind {
  readonly allowed: Allowed;
  readonly meaning: (limit: never) => Meaning;
}

/** The rules that a type may have, and the pairs of them between which there must be a value. */
export interface Kinds<R> {
  readonly rules: { readonly [Name in keyof R]-?: Kind };
  readonly pairs?: readonly (readonly [low: keyof R & string, high: keyof R & string, isOpen?: 'open'])[];
  /** Returns a number above zero if there is no value between two limits, and zero if there is one at most. */
  readonly compare?: (low: never, high: never) => number;
}

/** Makes a type whose values can have rules. @param name names the type in errors. */
export function ruledType<T, R extends object>(
  name: string,
  kinds: Kinds<R>,
  codecFor: (codecs: Codecs) => RuledCodec,
  limits: Readonly<Record<string, unknown>> = {},
  checks: readonly Check<never>[] = [],
): RuledType<T, R> {
  const meanings = Object.entries(limits).map(([rule, limit]) => meaningOf(kinds, rule, limit));
  const rules = meanings.flatMap(({ rule }) => rule ?? []);
  const schemas = meanings.map(({ schema = {} }) => schema);
  const description = schemas.flatMap(schema => (schema['description'] as string | undefined) ?? []).join(' ');
  const keywords: JsonSchema = Object.fromEntries(
    [...schemas, description === '' ? {} : { description }].flatMap(schema => Object.entries(schema)),
  );
  return {
    codec(codecs) {
      const plain = codecFor(codecs);
      if (meanings.length === 0 && checks.length === 0) return plain;
      const ruled = { ...plain, rules, checks, keywords };
      if (ruled.kind !== 'scalar') return ruled;
      const scalar = { ...ruled, schema: { ...ruled.schema, ...keywords } };
      return meanings.reduce<ScalarCodec>((codec, { reading }) => ({ ...codec, ...reading?.(codec) }), scalar);
    },
    with(given) {
      checkOptions(`${name}.with`, given, { ...allowedOf(kinds), check: fn });
      const { check, ...more } = given as CommonRules<never> & Record<string, unknown>;
      const set = Object.fromEntries(Object.entries(more).filter(([, limit]) => limit !== undefined));
      const all = { ...limits, ...set };
      refuseContradictions(name, kinds, all);
      return ruledType<T, R>(name, kinds, codecFor, all, check ? [...checks, check] : checks);
    },
  };
}

const allowedOf = <R>({ rules }: Kinds<R>): Record<string, Allowed> =>
  Object.fromEntries(Object.entries<Kind>(rules).map(([rule, { allowed }]) => [rule, allowed]));

const meaningOf = <R>({ rules }: Kinds<R>, rule: string, limit: unknown): Meaning =>
  rules[rule as keyof R].meaning(limit as never);

function refuseContradictions<R>(name: string, kinds: Kinds<R>, limits: Readonly<Record<string, unknown>>): void {
  for (const [low, high, isOpen] of kinds.pairs ?? []) {
    if (limits[low] === undefined || limits[high] === undefined) continue;
    const order = kinds.compare?.(limits[low] as never, limits[high] as never) ?? -1;
    if (order > 0 || (order === 0 && isOpen))
      throw new TypeError(
        `${name}.with: no value has both ${low} ${describe(limits[low])} and ${high} ${describe(limits[high])}`,
      );
  }
}

/**
 * Checks the rules on a value that was read, and reports each that it breaks; then asks the checks of the application.
 * @returns the value; INVALID if it breaks a rule; a promise for what is not known yet.
 */
export function keepsRules(codec: RuledCodec, value: unknown, at: Location): unknown {
  if (!codec.rules || value === INVALID) return value;
  const items = codec.kind === 'list' ? (value as unknown[]) : [];
  // Items whose schema or check is asynchronous.
  if (items.some(isPromise)) return Promise.all(items).then(known => keepsAll(codec, known.map(withoutMark), at));
  return keepsAll(codec, value, at);
}

function keepsAll({ kind, rules = [], checks = [] }: RuledCodec, value: unknown, at: Location): unknown {
  const broken = rules.filter(({ holds }) => !holds(value as never));
  for (const { says } of broken) at.failRule(kind === 'scalar' ? 'value' : kind, value, says);
  if (broken.length > 0) return INVALID;
  // Items that are invalid have been reported.
  if (kind === 'list' && (value as unknown[]).includes(INVALID)) return value;
  const answers = checks.map((check): unknown => check(value as never));
  return answers.some(isPromise)
    ? Promise.all(answers).then(known => accepted(known, value, at))
    : accepted(answers, value, at);
}

function accepted(answers: readonly unknown[], value: unknown, at: Location): unknown {
  const broken = answers.filter(answer => answer !== true);
  for (const says of broken) {
    if (typeof says !== 'string')
      throw new TypeError(
        `A check of a type must return true or a text that says what is wrong, not ${describe(says)}`,
      );
    at.fail('rule', says);
  }
  return broken.length > 0 ? INVALID : value;
}
