import type { AnyType, Infer, ParseResult } from './property-type';

/** How one endpoint, or one application, reads a type from text. Made by {@link valueParserFor}. */
export interface ValueParser {
  readonly type: AnyType;
  readonly parse: (input: string | undefined) => ParseResult<unknown>;
}

/**
 * SPEC's ValueParserFor: reads values of a type from text, in place of what the type does by itself (its `tryParse`
 * included). It has no part in reading JSON; that is what converters are for.
 * @param type the class or type, as it stands in declarations.
 * @param parse gets the text of one value.
 * @throws TypeError when `parse` is no function.
 */
export function valueParserFor<X extends AnyType>(
  type: X,
  parse: (input: string | undefined) => ParseResult<Infer<X>>,
): ValueParser {
  if (typeof parse !== 'function')
    throw new TypeError('valueParserFor: give a function (input) => ({ success, value })');
  return { type, parse };
}
