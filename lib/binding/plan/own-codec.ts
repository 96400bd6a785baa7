import { isDto } from '../declaration/declarations';
import type { Codec } from '../types/codec';
import { objectCodec } from '../declaration/object-codec';
import { parsableCodec } from '../types/parsable';
import { assertType, isParsable, isSchema } from '../types/assert-type';
import { isValueType, type AnyType, type Codecs } from '../types/property-type';
import { schemaCodec } from '../types/schema';

/** Makes a type's own codec; undefined for a class that needs a value parser or a converter. */
export function ownCodec(type: AnyType, codecs: Codecs): Codec | undefined {
  assertType(type);
  if (isSchema(type)) return schemaCodec(type);
  if (isValueType(type)) return type.codec(codecs);
  const asObject = isDto(type) ? objectCodec(type, codecs) : undefined;
  return isParsable(type) ? parsableCodec(type, asObject) : asObject;
}
