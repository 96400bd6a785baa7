import { plainJson } from '../reading/json-text';
import { INVALID } from '../reading/location';
import { notNull, type Codec, type ScalarCodec } from './codec';
import type { JsonConverter } from './json-converter';
import { accepted } from './parse-result';
import type { ValueParser } from './value-parser';

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
  const type = own && notNull(own);
  const ownText = type?.kind === 'scalar' ? type.text : undefined;
  return {
    kind: 'scalar',
    name,
    inner: own,
    takesAnyText: type?.kind === 'scalar' ? type.takesAnyText : undefined,
    text: parser ? text => accepted(parser.parse(text), `The value parser for ${name}`) : ownText,
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
