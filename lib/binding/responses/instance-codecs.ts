import { warnOnce } from '../../warnings/warn-once';
import { isDto } from '../declaration/property';
import type { Codec } from '../types/codec';
import type { CodecTable } from '../plan/codec-table';
import type { AnyType } from '../types/property-type';

/** Finds how the value of a response is written by its own declaration; undefined for what is not a dto or an array of dtos. */
export type CodecOfInstance = (value: unknown) => Codec<unknown> | undefined;

/**
 * @param codecs those of the endpoint: its naming policy and its converters.
 * @param own what the endpoint binds: worked out at once, since it is what most handlers answer with.
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
    const items = value.map(codecOf);
    if (items.length === 0 || items.includes(undefined)) return undefined;
    return arrayOf(items as Codec<unknown>[]);
  };
}

/** The dto class of a value. A class that has a `toJSON` of its own says by that how it is written. */
function classOf(value: unknown): (new () => unknown) | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
  const { constructor: Dto } = value as { constructor: unknown };
  return isDto(Dto) && value instanceof Dto ? Dto : undefined;
}

/** A class that cannot be written is left to Express: its handler has done its work, and must not fail for its answer. */
function codecFor(Dto: new () => unknown, codecs: CodecTable): Codec<unknown> | undefined {
  try {
    return codecs.complete(Dto);
  } catch (error) {
    const text = `bindonce: res.json() leaves ${Dto.name} to Express: ${(error as Error).message}`;
    warnOnce('BINDONCE_RESPONSE_CLASS', `${text} Give a converter, or declare the response in \`responses\`.`);
    return undefined;
  }
}

/** The items of one array may be of several classes. */
function arrayOf(items: readonly Codec<unknown>[]): Codec<unknown> {
  const write = (value: unknown): unknown[] => (value as unknown[]).map((one, at) => items[at]?.toJson?.(one) ?? one);
  return { name: 'array', shape: 'list', fromText: refuse, fromJson: refuse, toJson: write };
}

const refuse = (): never => {
  throw new TypeError('an array of dtos is written, not read');
};
