import { isPromise } from '../../basics/awaitable';
import { checkOptions, describe, fn, type Rule as Allowed } from '../../options/check';
import { withDefaults } from '../../options/merge';
import { INVALID, type Location } from '../reading/location';
import type { FileCodec, JsonSchema, ListCodec, Rule, ScalarCodec } from './codec';
import type { Codecs, ValueType } from './property-type';

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
interface Meaning extends Partial<Rule> {
  readonly schema?: JsonSchema;
  readonly reading?: (codec: ScalarCodec) => Partial<ScalarCodec>;
}

/** A rule that a type may have: the limits that it takes, and what one of them means. */
export interface Kind {
  readonly allowed: Allowed;
  readonly meaning: (limit: never) => Meaning;
}

/** The rules that a type may have. */
export interface Kinds<R> {
  readonly rules: { readonly [Name in keyof R]-?: Kind };
  /** Compares a lower with an upper limit: above zero if it is larger. Default: both are numbers. */
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
  const known = new Map(Object.entries<Kind>(kinds.rules));
  const meanings = Object.entries(limits).map(([rule, limit]) => known.get(rule)?.meaning(limit as never) ?? {});
  return {
    codec: codecs => withRules(codecFor(codecs), meanings, checks),
    with(given) {
      const allowed = [...known].map(([rule, kind]) => [rule, kind.allowed] as const);
      checkOptions(`${name}.with`, given, { ...Object.fromEntries(allowed), check: fn });
      const { check, ...more } = given as CommonRules<never>;
      const all = withDefaults(limits, more);
      refuseContradictions(name, kinds, all);
      return ruledType<T, R>(name, kinds, codecFor, all, check ? [...checks, check] : checks);
    },
  };
}

function withRules(plain: RuledCodec, meanings: readonly Meaning[], checks: readonly Check<never>[]): RuledCodec {
  if (meanings.length === 0 && checks.length === 0) return plain;
  const rules = meanings.flatMap(({ holds, says }) => (holds && says !== undefined ? [{ holds, says }] : []));
  const keywords: Record<string, unknown> = {};
  for (const { schema } of meanings)
    for (const [keyword, value] of Object.entries(schema ?? {}))
      // Two limits that JSON Schema has no keywords for are two sentences.
      keywords[keyword] = keyword in keywords ? `${String(keywords[keyword])} ${String(value)}` : value;
  const ruled = { ...plain, rules, checks, keywords };
  if (ruled.kind !== 'scalar') return ruled;
  return meanings.reduce<ScalarCodec>((codec, { reading }) => ({ ...codec, ...reading?.(codec) }), {
    ...ruled,
    schema: { ...ruled.schema, ...keywords },
  });
}

const difference = (low: number, high: number): number => low - high;

/** Every lower limit is compared with every upper one; of two that are no values themselves, none may be in between. */
function refuseContradictions<R>(
  name: string,
  { compare = difference }: Kinds<R>,
  limits: Readonly<Record<string, unknown>>,
): void {
  const named = (what: RegExp): [string, unknown][] => Object.entries(limits).filter(([rule]) => what.test(rule));
  for (const [low, least] of named(/^min|Minimum/))
    for (const [high, most] of named(/^max|Maximum/)) {
      const order = compare(least as never, most as never);
      if (order > 0 || (order === 0 && /exclusive/.test(low + high)))
        throw new TypeError(`${name}.with: no value has both ${low} ${describe(least)} and ${high} ${describe(most)}`);
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
  if (items.some(isPromise)) return Promise.all(items).then(() => keepsAll(codec, items, at));
  return keepsAll(codec, value, at);
}

function keepsAll({ kind, rules = [], checks = [] }: RuledCodec, value: unknown, at: Location): unknown {
  const broken = rules.filter(({ holds }) => !holds(value as never));
  for (const { says } of broken) at.failRule(kind === 'scalar' ? 'value' : kind, value, says);
  if (broken.length > 0) return INVALID;
  // Items that are invalid have been reported.
  if (kind === 'list' && at.isInvalid) return value;
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
