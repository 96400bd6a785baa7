import { warnOnce } from '../../warnings/warn-once';
import { isDto } from '../declaration/declarations';
import { classNameOf } from '../types/class-name';
import type { Codec } from '../types/codec';
import type { CodecTable } from '../plan/codec-table';
import type { AnyType } from '../types/property-type';

/**
 * Finds the codec of a response value by its own declaration; undefined for a value that is not a dto or an array of
 * dtos.
 */
export type CodecOfInstance = (value: unknown) => Codec<unknown> | undefined;

/**
 * @param codecs the endpoint's codecs, with its naming policy and converters.
 * @param own the endpoint's own dto; its codec is made at once, because most handlers respond with it.
 */
export function instanceCodecs(codecs: CodecTable, own: AnyType): CodecOfInstance {
  const known = new Map<object, Codec<unknown> | undefined>();
  if (isDto(own)) known.set(own, codecFor(own, codecs));
  const codecOf: CodecOfInstance = value => {
    const Dto = classOf(value);
    if (!Dto) return undefined;
    if (!known.has(Dto)) known.set(Dto, codecFor(Dto, codecs));
    return known.get(Dto);
  };
  return value => {
    if (!Array.isArray(value)) return codecOf(value);
    const items = value.map(one => (isNothing(one) ? undefined : codecOf(one)));
    const areDtos = items.every((codec, index) => codec !== undefined || isNothing(value[index]));
    return areDtos && items.some(codec => codec !== undefined) ? arrayOf(items) : undefined;
  };
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

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
function codecFor(Dto: new () => unknown, codecs: CodecTable): Codec<unknown> | undefined {
  try {
    return codecs.complete(Dto);
  } catch (error) {
    const what = `bindonce: res.json() leaves ${classNameOf(Dto)} to Express: ${(error as Error).message}`;
    warnOnce('BINDONCE_RESPONSE_CLASS', `${what} Give a converter, or declare the response in \`responses\`.`, what);
    return undefined;
  }
}

/**
 * Makes the codec of an array whose items may be of several classes.
 * @param items their codecs; undefined for null.
 */
function arrayOf(items: readonly (Codec<unknown> | undefined)[]): Codec<unknown> {
  const write = (value: unknown): unknown[] => (value as unknown[]).map((one, at) => items[at]?.toJson?.(one) ?? one);
  const parts = (): Codec<unknown>[] => items.filter(codec => codec !== undefined);
  return { name: 'array', shape: 'list', parts, fromText: refuse, fromJson: refuse, toJson: write };
}

const refuse = (): never => {
  throw new TypeError('the codec of an array of dtos only writes');
};
