import type { Codec } from './codec';

/** Converts a value to what JSON holds for it; null and undefined stay as they are. */
export function written(codec: Codec<unknown>, value: unknown): unknown {
  return codec.toJson && value !== undefined && value !== null ? codec.toJson(value) : value;
}
