import { describe } from '../../options/check';
import type { AnyType, Infer, ParseResult } from './property-type';

/** Reads a type from text, for one endpoint or one application. Made by {@link valueParserFor}. */
export interface ValueParser {
  /** The class or type that it reads. */
  readonly type: AnyType;
  /** Reads the text of one value. */
  readonly parse: (input: string | undefined) => ParseResult<unknown>;
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
