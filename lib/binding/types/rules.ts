import BigNumber = require('bignumber.js');
import { after, isPromise } from '../../basics/awaitable';
import { checkOptions, describe, fn, positiveInteger, type Rule as Allowed } from '../../options/check';
import { withDefaults } from '../../options/merge';
import { INVALID, type Location } from '../reading/failures';
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

/** What a limit means: a condition on values, and its keywords in JSON Schema. */
interface Meaning extends Rule {
  readonly schema?: JsonSchema;
  /** Compared with that of another rule: no lower limit is above an upper one. */
  readonly edge?: BigNumber;
}

/** A meaning, and the limit as it was given. */
type Limited = Meaning & { readonly limit: unknown };

/**
 * A rule that a type may have: the limits that it takes, and what one of them means. A rule without a meaning changes
 * how the type is read. False is no limit.
 */
export interface Row extends Allowed {
  readonly meaning?: (limit: never) => Meaning;
}

/** The rules that a type may have. */
export type Kinds<R> = { readonly [Name in keyof R]-?: Row };

/** Makes a type whose values can have rules. @param name names the type in errors. */
export function ruledType<T, R extends object>(
  name: string,
  kinds: Kinds<R>,
  codecFor: (codecs: Codecs, rules: R) => RuledCodec,
  rules = {} as R,
  checks: readonly Check<never>[] = [],
): RuledType<T, R> {
  const meanings = new Map<string, Limited>();
  for (const [rule, { meaning }] of Object.entries<Row>(kinds)) {
    const limit = (rules as Readonly<Record<string, unknown>>)[rule] ?? false;
    if (meaning && limit !== false) meanings.set(rule, { limit, ...meaning(limit as never) });
  }
  refuseContradictions(name, meanings);
  return {
    codec: codecs => withRules(codecFor(codecs, rules), [...meanings.values()], checks),
    with(given) {
      checkOptions(`${name}.with`, given, { ...kinds, check: fn });
      const { check, ...more } = given as CommonRules<never>;
      return ruledType<T, R>(name, kinds, codecFor, withDefaults(rules, more), check ? [...checks, check] : checks);
    },
  };
}

/** Every lower limit is compared with every upper one; of two that are no values themselves, none may be in between. */
function refuseContradictions(name: string, meanings: ReadonlyMap<string, Limited>): void {
  for (const [low, least] of meanings)
    for (const [high, most] of meanings) {
      if (!least.edge || !most.edge || !/^min|Minimum/.test(low) || !/^max|Maximum/.test(high)) continue;
      if (least.edge.lt(most.edge) || (least.edge.eq(most.edge) && !/exclusive/.test(low + high))) continue;
      const both = `${low} ${describe(least.limit)} and ${high} ${describe(most.limit)}`;
      throw new TypeError(`${name}.with: no value has both ${both}`);
    }
}

function withRules(plain: RuledCodec, rules: readonly Meaning[], checks: readonly Check<never>[]): RuledCodec {
  if (rules.length === 0 && checks.length === 0) return plain;
  const schemas = rules.map(({ schema = {} }) => schema);
  // Two limits that JSON Schema has no keywords for are two sentences.
  const description = schemas.flatMap(({ description: text }) => (typeof text === 'string' ? text : [])).join(' ');
  const keywords = { ...Object.fromEntries(schemas.flatMap(Object.entries)), ...(description && { description }) };
  const ruled = { ...plain, rules, checks, keywords };
  return ruled.kind === 'scalar' ? { ...ruled, schema: { ...ruled.schema, ...keywords } } : ruled;
}

/**
 * Checks the rules on a value that was read, and reports each that it breaks; then asks the checks of the application.
 * @returns the value; INVALID if it breaks a rule; a promise for what is not known yet.
 */
export function keepsRules(codec: RuledCodec, value: unknown, at: Location): unknown {
  if (!codec.rules) return value;
  // Items whose schema or check is asynchronous are set when they are known.
  const items = codec.kind === 'list' ? (value as unknown[]) : [];
  return items.some(isPromise) ? Promise.all(items).then(() => keepsAll(codec, value, at)) : keepsAll(codec, value, at);
}

function keepsAll({ kind, rules = [], checks = [] }: RuledCodec, value: unknown, at: Location): unknown {
  const broken = rules.filter(({ holds }) => !holds(value as never));
  for (const { says } of broken) at.failRule(kind === 'scalar' ? 'value' : kind, value, says);
  if (broken.length > 0) return INVALID;
  // Items that are invalid have been reported.
  if (checks.length === 0 || (kind === 'list' && at.isInvalid)) return value;
  const asked = checks.map((check): unknown => check(value as never));
  return after<readonly unknown[], unknown>(asked.some(isPromise) ? Promise.all(asked) : asked, answers => {
    const reasons = answers.filter(answer => answer !== true);
    for (const says of reasons) {
      if (typeof says !== 'string')
        throw new TypeError(
          `A check of a type must return true or a text that says what is wrong, not ${describe(says)}`,
        );
      at.fail('rule', says);
    }
    return reasons.length > 0 ? INVALID : value;
  });
}

const count: Allowed = {
  expects: 'a whole number from 0',
  accepts: value => value === 0 || positiveInteger.accepts(value),
};

/** Makes a rule about the number of something: the least that its keyword begins with, or the most. */
export const counted = (keyword: string, unit: string, numberOf: (value: never) => number, allowed = count): Row => ({
  ...allowed,
  meaning(limit: number) {
    const isLeast = keyword.startsWith('min');
    const says = `have at ${isLeast ? 'least' : 'most'} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
    const holds = (value: never): boolean => (isLeast ? numberOf(value) >= limit : numberOf(value) <= limit);
    return { edge: new BigNumber(limit), says, holds, schema: { [keyword]: limit } };
  },
});
