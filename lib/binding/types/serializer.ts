import { ignoreRejection } from '../../basics/awaitable';
import { arrayOf, describe, either, fn, object, objectWith, oneOf, type Rule } from '../../options/check';
import { withDefaults } from '../../options/merge';
import { plainJson } from '../reading/json-text';
import { INVALID } from '../reading/failures';
import type { Codec, ScalarCodec } from './codec';
import { classNameOf, type AnyType, type Infer, type Parsable, type ParseResult } from './property-type';
import { asScalar } from './write-value';

/** Makes the JSON name of a property from its name. */
export type NamingPolicy = (name: string) => string;

/** A naming policy of bindonce, which is named as it writes names. */
export type NamingPolicyName = 'camelCase' | 'snake_case' | 'kebab-case' | 'PascalCase';

/**
 * Splits a name into words: `customerID` into customer, ID; `URLPath` into URL, Path. Digits belong to the word before
 * them, and underscores around the name to its first and its last word: `_id` and `id` are two names.
 */
const words = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/(?<!^_*)[\s_-](?!_*$)/);

const namingPolicies: Readonly<Record<NamingPolicyName, NamingPolicy>> = {
  /** Makes the leading capitals small: `CustomerId` becomes customerId, `URLPath` becomes urlPath. */
  camelCase: name => name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, start => start.toLowerCase()),
  snake_case: name => words(name).join('_').toLowerCase(),
  'kebab-case': name => words(name).join('-').toLowerCase(),
  PascalCase: name =>
    words(name)
      .map(word => word.replace(/^_*./, start => start.toUpperCase()))
      .join(''),
};

/** How JSON is read and written. */
export interface SerializerOptions {
  /** Makes the JSON name of a property that has no `jsonPropertyName`. Default `'camelCase'`. */
  propertyNamingPolicy?: NamingPolicyName | NamingPolicy;
  /**
   * `'text'`: a `decimal` is written as `"4.5"`, which no client rounds; `'number'`: as `4.5`. Both are read. Default
   * `'number'`.
   */
  decimals?: 'number' | 'text';
  /** Readers and writers for types without a JSON form, or with another one. */
  converters?: readonly JsonConverter[];
  /** Contexts by their `request`, for endpoints without a `serializerContext`; `npx bindonce generate` writes them. */
  contexts?: GeneratedContexts;
}

/** The types of a serializer context, and its options. */
export interface SerializerTypes<Q extends AnyType = AnyType> extends SerializerOptions {
  /** Type of the JSON that is read. */
  readonly request?: Q;
  /** Types of the JSON that is written, by status. */
  readonly responses?: ResponseTypes;
}

/** Results of `serializerContext()`, as far as an endpoint uses them: the types of each, and its options. */
export type GeneratedContexts = readonly { readonly types: SerializerTypes }[];

interface Lists extends Pick<SerializerOptions, 'converters' | 'contexts'> {
  readonly valueParsers?: readonly ValueParser[];
}

/**
 * Merges options over defaults. One that is `undefined` counts as absent; lists are joined, those of the options first.
 */
export function mergeOptions<D extends Lists, G extends Lists>(defaults: D, given: G): D & G & Required<Lists> {
  return {
    ...withDefaults(defaults, given),
    valueParsers: [...(given.valueParsers ?? []), ...(defaults.valueParsers ?? [])],
    converters: [...(given.converters ?? []), ...(defaults.converters ?? [])],
    contexts: [...(given.contexts ?? []), ...(defaults.contexts ?? [])],
  };
}

/** The types of responses by status. */
export type ResponseTypes = Readonly<Record<number, AnyType>>;

const isConverter = (one: unknown): boolean =>
  objectWith('', 'read', 'write').accepts(one) && (one as { type?: unknown }).type !== undefined;

export const serializerRules: Readonly<Record<keyof SerializerOptions, Rule>> = {
  propertyNamingPolicy: either(oneOf(...Object.keys(namingPolicies)), fn),
  decimals: oneOf('number', 'text'),
  converters: arrayOf('{ type, read, write }', isConverter),
  contexts: arrayOf('serializer contexts', one => object.accepts((Object(one) as { types?: unknown }).types)),
};

export const responsesRule: Rule = {
  expects: 'an object of types by status, for example { 201: OrderView }',
  accepts: value => object.accepts(value) && Object.keys(value as object).every(status => /^[1-5]\d\d$/.test(status)),
};

export const namingPolicyOf = ({ propertyNamingPolicy: policy = 'camelCase' }: SerializerOptions): NamingPolicy =>
  typeof policy === 'function' ? policy : namingPolicies[policy];

/** Reads a type from text, for one endpoint or one application. Made by {@link valueParserFor}. */
export interface ValueParser {
  /** The class or type that it reads. */
  readonly type: AnyType;
  /** Reads the text of one value. */
  readonly parse: (input: string | undefined) => ParseResult<unknown>;
}

/** Reads and writes the JSON of a type that has no JSON form of its own, or replaces that form. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- A list of converters has one of each type.
export interface JsonConverter<T = any> {
  /** The class or type, as used in declarations. */
  readonly type: AnyType;
  /** Reads a JSON value: text, a number, an object, an array, true, false or null. */
  read(json: unknown): ParseResult<T>;
  /** Returns what is written for a value: anything that JSON can hold. */
  write(value: T): unknown;
}

/**
 * Makes a parser that reads values of a type from text, instead of the type's own parser (its `tryParse` included). It
 * does not read JSON; converters do.
 * @param type the class or type, as used in declarations.
 * @param parse gets the text of one value.
 */
export function valueParserFor<X extends AnyType>(
  type: X,
  parse: (input: string | undefined) => ParseResult<Infer<X>>,
): ValueParser {
  return { type, parse };
}

const articled = (name: string): string => `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`;

/** Makes the codec of a class with `static tryParse(text)`. In JSON its values are strings. */
export function parsableCodec(type: Parsable<unknown>): ScalarCodec {
  const name = classNameOf(type) || 'value';
  const text = (given: string): unknown => accepted(type.tryParse(given), `${name}.tryParse`);
  const described = articled(name);
  return {
    ...{ kind: 'scalar', name, described, text, schema: { type: 'string', title: name } },
    json: value => (typeof value === 'string' ? text(value) : undefined),
    read: (value, at) =>
      at.failValue(value, typeof value === 'string' ? described : `text that ${name} accepts; send a string`),
    write(value) {
      const isOwn = typeof type === 'function' && value instanceof (type as abstract new () => object);
      if (isOwn && 'toJSON' in value) return value;
      // eslint-disable-next-line @typescript-eslint/no-base-to-string -- one without a text of its own is refused.
      const text = isOwn ? String(value) : '[object ';
      // Its fields are not declared, and what is read is text.
      return text.startsWith('[object ') ? asScalar(value, name) : text;
    },
  };
}

/**
 * Makes the codec of a type whose text is read by a value parser, or whose JSON by a converter. A parser takes
 * precedence over the type's own; it reads no JSON.
 * @param own the type's own codec; undefined for a class that has none.
 */
export function replacedCodec(
  name: string,
  own: Codec | undefined,
  parser: ValueParser | undefined,
  converter: JsonConverter | undefined,
): Codec {
  const described = articled(name);
  const { text, takesAnyText } = own?.kind === 'scalar' ? own : {};
  const plain: ScalarCodec = { kind: 'scalar', name, described, text, takesAnyText };
  const converted: Codec | undefined = converter && {
    ...plain,
    read(value, at) {
      const json = plainJson(value, at);
      if (json === INVALID) return INVALID;
      const read = accepted(converter.read(json), `The converter for ${name}`);
      return read === undefined ? at.failValue(value, described) : read;
    },
    write: value => converter.write(value),
    schema: { title: name },
  };
  const read = converted ?? own ?? plain;
  if (!parser) return read;
  const parse = (given: string): unknown => accepted(parser.parse(given), `The value parser for ${name}`);
  return { ...read, described, text: parse, schemaOfText: { type: 'string', title: name } };
}

/**
 * Takes the value out of the result of an application's parser; undefined if it has refused the input.
 * @param result the parser's return value, a `ParseResult` if it keeps to its type.
 * @param parser the name for the error message, for example `Money.tryParse`.
 * @throws TypeError if the result is not a `ParseResult`: that is the application's mistake, not the client's.
 */
function accepted(result: unknown, parser: string): unknown {
  const { success, value } = Object(result) as { success?: unknown; value?: unknown };
  if (typeof success === 'boolean') return success ? value : undefined;
  ignoreRejection(result);
  throw new TypeError(`${parser} must return { success: true, value } or { success: false }, not ${describe(result)}`);
}
