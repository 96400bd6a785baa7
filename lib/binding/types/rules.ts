import BigNumber = require('bignumber.js');
import { isPromise } from '../../basics/awaitable';
import { boolean, checkOptions, describe, fn, positiveInteger, type Rule as Allowed } from '../../options/check';
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

/** What a limit means: a condition, keywords in JSON Schema, and what it changes in how values are read. */
interface Meaning extends Partial<Rule> {
  readonly schema?: JsonSchema;
  readonly reading?: (codec: ScalarCodec) => Partial<ScalarCodec>;
  /** Compared with that of another rule: no lower limit is above an upper one. */
  readonly edge?: BigNumber | Date | number | string;
}

/** A rule that a type may have: the limits that it takes, and what one of them means. */
export interface Row {
  readonly allowed: Allowed;
  readonly meaning: (limit: never) => Meaning;
}

/** The rules that a type may have. */
export type Kinds<R> = { readonly [Name in keyof R]-?: Row };

/** Makes a type whose values can have rules. @param name names the type in errors. */
export function ruledType<T, R extends object>(
  name: string,
  kinds: Kinds<R>,
  codecFor: (codecs: Codecs) => RuledCodec,
  limits: Readonly<Record<string, unknown>> = {},
  checks: readonly Check<never>[] = [],
): RuledType<T, R> {
  const known = Object.entries<Row>(kinds);
  const meanings = known.flatMap(([rule, { meaning }]): (readonly [string, Meaning])[] =>
    limits[rule] === undefined ? [] : [[rule, meaning(limits[rule] as never)]],
  );
  refuseContradictions(name, limits, meanings);
  return {
    codec: codecs => withRules(codecFor(codecs), meanings, checks),
    with(given) {
      const allowed = Object.fromEntries(known.map(([rule, kind]) => [rule, kind.allowed]));
      checkOptions(`${name}.with`, given, { ...allowed, check: fn });
      const { check, ...more } = given as CommonRules<never>;
      const all = withDefaults(limits, more);
      return ruledType<T, R>(name, kinds, codecFor, all, check ? [...checks, check] : checks);
    },
  };
}

type Named = readonly (readonly [rule: string, Meaning])[];

/** Every lower limit is compared with every upper one; of two that are no values themselves, none may be in between. */
function refuseContradictions(name: string, limits: Readonly<Record<string, unknown>>, meanings: Named): void {
  for (const [low, { edge: least }] of meanings.filter(([rule]) => /^min|Minimum/.test(rule)))
    for (const [high, { edge: most }] of meanings.filter(([rule]) => /^max|Maximum/.test(rule))) {
      const sign = order(least, most);
      if (sign > 0 || (sign === 0 && /exclusive/.test(low + high))) {
        const both = `${low} ${describe(limits[low])} and ${high} ${describe(limits[high])}`;
        throw new TypeError(`${name}.with: no value has both ${both}`);
      }
    }
}

function withRules(plain: RuledCodec, meanings: Named, checks: readonly Check<never>[]): RuledCodec {
  if (meanings.length === 0 && checks.length === 0) return plain;
  const rules = meanings.flatMap(([, { holds, says }]) => (holds && says !== undefined ? [{ holds, says }] : []));
  const keywords: Record<string, unknown> = {};
  for (const [, { schema = {} }] of meanings)
    for (const [keyword, value] of Object.entries(schema))
      // Two limits that JSON Schema has no keywords for are two sentences.
      keywords[keyword] = keyword in keywords ? `${String(keywords[keyword])} ${String(value)}` : value;
  const ruled = { ...plain, rules, checks, keywords };
  if (ruled.kind !== 'scalar') return ruled;
  return meanings.reduce<ScalarCodec>((codec, [, { reading }]) => ({ ...codec, ...reading?.(codec) }), {
    ...ruled,
    schema: { ...ruled.schema, ...keywords },
  });
}

/**
 * Checks the rules on a value that was read, and reports each that it breaks; then asks the checks of the application.
 * @returns the value; INVALID if it breaks a rule; a promise for what is not known yet.
 */
export function keepsRules(codec: RuledCodec, value: unknown, at: Location): unknown {
  if (!codec.rules || value === INVALID) return value;
  const items = codec.kind === 'list' ? (value as unknown[]) : [];
  // Items whose schema or check is asynchronous are set when they are known.
  return items.some(isPromise) ? Promise.all(items).then(() => keepsAll(codec, items, at)) : keepsAll(codec, value, at);
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

export const exactly = (value: unknown): BigNumber =>
  BigNumber.isBigNumber(value) ? value : new BigNumber(String(value));

/** Returns a number above zero if the first value is larger. */
export function order(one: Meaning['edge'], other: Meaning['edge']): number {
  if (one === undefined || other === undefined) return -1;
  if (BigNumber.isBigNumber(one)) return Number(one.comparedTo(exactly(other)));
  return one > other ? 1 : one < other ? -1 : 0;
}

const count: Allowed = {
  expects: 'a whole number from 0',
  accepts: value => value === 0 || positiveInteger.accepts(value),
};

/** Makes a rule about the number of something. @param words for example `have at least`. */
export const counted = (
  keyword: string,
  words: string,
  unit: string,
  isKept: (value: never, limit: number) => boolean,
  allowed = count,
): Row => ({
  allowed,
  meaning: (limit: number) => ({
    ...{ edge: limit, says: `${words} ${limit} ${unit}${limit === 1 ? '' : 's'}` },
    ...{ holds: value => isKept(value, limit), schema: { [keyword]: limit } },
  }),
});

/** Makes a rule that is on or off. */
export const switched = (meaning: Meaning): Row => ({
  allowed: boolean,
  meaning: (isAsked: boolean) => (isAsked ? meaning : {}),
});
