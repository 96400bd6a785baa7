import { warnOnce } from '../../warnings/warn-once';
import { isDto } from '../declaration/declarations';
import { classNameOf } from '../types/class-name';
import { withParts, type Codec } from '../types/codec';
import type { CodecTable } from '../plan/codec-table';
import { isValueType, type AnyType } from '../types/property-type';

/**
 * Finds the codec of a response value by its own declaration; undefined for a value that is not a dto or an array of
 * dtos of one class.
 */
export type CodecOfInstance = (value: unknown) => Codec | undefined;

/**
 * @param codecs the endpoint's codecs, with its naming policy and converters.
 * @param own the endpoint's own dto; its codec is made at once, because most handlers respond with it.
 */
export function instanceCodecs(codecs: CodecTable, own: AnyType): CodecOfInstance {
  const known = new Map<object, Codec | undefined>();
  const ownCodec = isDto(own) || isValueType(own) ? codecFor(own, codecs) : undefined;
  if (isDto(own)) known.set(own, ownCodec);
  // A value of `oneOf` is an instance of a class, and has the tag, too.
  for (const part of ownCodec ? withParts(ownCodec) : [])
    if (part.kind === 'union') for (const branch of part.branches.values()) known.set(branch.Dto, branch);
  const codecOf: CodecOfInstance = value => {
    const Dto = classOf(value);
    if (!Dto) return undefined;
    if (!known.has(Dto)) known.set(Dto, codecFor(Dto, codecs));
    return known.get(Dto);
  };
  return value => {
    if (!Array.isArray(value)) return codecOf(value);
    const codecs = new Set(value.filter(one => one !== undefined && one !== null).map(codecOf));
    const [item, another] = codecs;
    return codecs.size === 1 && !another ? item && { kind: 'list', name: 'array', item } : undefined;
  };
}

/** Returns the dto class of a value; undefined for a class with a `toJSON` of its own, which defines its JSON form. */
function classOf(value: unknown): (new () => unknown) | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
  // A dto may have a property of this name.
  const { constructor: Dto } = Object(Object.getPrototypeOf(value)) as { constructor: unknown };
  return isDto(Dto) && value instanceof Dto ? Dto : undefined;
}

/**
 * Leaves a class that cannot be written to Express: the handler has done its work, and must not fail because of its
 * response.
 */
function codecFor(Dto: AnyType, codecs: CodecTable): Codec | undefined {
  try {
    return codecs.complete(Dto);
  } catch (error) {
    const what = `bindonce: res.json() leaves ${classNameOf(Dto)} to Express: ${(error as Error).message}`;
    warnOnce('BINDONCE_RESPONSE_CLASS', `${what} Give a converter, or declare the response in \`responses\`.`, what);
    return undefined;
  }
}
