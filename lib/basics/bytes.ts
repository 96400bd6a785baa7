import { types } from 'node:util';

/** Returns bytes as a Buffer that shares their memory; undefined for a value that is not bytes. */
export function bytesIn(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return types.isAnyArrayBuffer(value) ? Buffer.from(value) : undefined;
}
