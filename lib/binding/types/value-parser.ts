import { ignoreRejection } from '../../basics/awaitable';
import { describe } from '../../options/check';
import { plainJson } from '../reading/json-text';
import { INVALID } from '../reading/location';
import type { Codec, ScalarCodec } from './codec';
import { classNameOf, type AnyType, type Infer, type Parsable, type ParseResult } from './property-type';
import { asScalar } from './write-value';

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
 * @throws TypeError if `type` is missing, or if `parse` is not a function.
 */
export function valueParserFor<X extends AnyType>(
  type: X,
  parse: (input: string | undefined) => ParseResult<Infer<X>>,
): ValueParser {
  const isType = (type as unknown) !== undefined && (type as unknown) !== null;
  if (!isType || typeof parse !== 'function')
    throw new TypeError(
      'valueParserFor takes a type and a function (input) => ({ success, value }); ' +
        (isType ? `the function is ${describe(parse)}` : `the type is ${describe(type)}`),
    );
  return { type, parse };
}

/** Makes the codec of a class with `static tryParse(text)`. In JSON its values are strings. */
export function parsableCodec(type: Parsable<unknown>): ScalarCodec {
  const name = classNameOf(type) || 'value';
  const text = (given: string): unknown => accepted(type.tryParse(given), `${name}.tryParse`);
  const described = `text that ${name} accepts; send a string`;
  return {
    ...{ kind: 'scalar', name, text, schema: { type: 'string', title: name } },
    json: value => (typeof value === 'string' ? text(value) : undefined),
    read: (value, at) => at.failValue(value, name, undefined, typeof value === 'string' ? undefined : described),
    write: value => textOf(value, type, name),
  };
}

/**
 * Returns the value's text, or the value itself if it has a `toJSON`. Instances of other classes are refused.
 * @throws TypeError for a value with neither: its fields are not declared, and what is read is text.
 */
function textOf(value: unknown, type: Parsable<unknown>, name: string): unknown {
  const isOwn = typeof type === 'function' && value instanceof (type as abstract new () => object);
  if (!isOwn) return asScalar(value, name);
  if ('toJSON' in value) return value;
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- an object without a text of its own is refused.
  const text = String(value);
  if (!text.startsWith('[object ')) return text;
  throw new TypeError(
    `The response has a ${name}, which has no form in JSON: add toString() or toJSON() to ${name}, ` +
      'or pass a converter for it (option converters).',
  );
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
): ScalarCodec {
  const { text, takesAnyText } = own?.kind === 'scalar' ? own : {};
  return {
    ...{ kind: 'scalar', name, inner: own, takesAnyText },
    text: parser ? given => accepted(parser.parse(given), `The value parser for ${name}`) : text,
    ...(parser && { schemaOfText: { type: 'string', title: name } }),
    ...(converter && {
      read(value, at) {
        const plain = plainJson(value, at);
        if (plain === INVALID) return INVALID;
        const read = accepted(converter.read(plain), `The converter for ${name}`);
        return read === undefined ? at.failValue(value, name) : read;
      },
      write: value => converter.write(value),
      schema: { title: name },
    }),
  };
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
  const returned = typeof result === 'object' && result !== null ? 'another object' : String(result);
  throw new TypeError(
    `${parser} must return { success: true, value } or { success: false }, and has returned ${returned}`,
  );
}
