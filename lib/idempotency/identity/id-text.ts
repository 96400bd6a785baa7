import { bytesOfView } from '../../basics/bytes';

/** The methods by which ids of databases convert themselves to text. */
interface Written {
  readonly toJSON?: unknown;
  readonly toString?: unknown;
}

/**
 * Returns the text of an id: of text, a finite number, a bigint, bytes, or an object that converts itself to text.
 * @returns undefined for everything else: two different ids must not have the same text.
 */
export function idText(id: unknown): string | undefined {
  if (typeof id === 'string') return id === '' ? undefined : id;
  if (typeof id === 'number') return Number.isFinite(id) ? String(id) : undefined;
  if (typeof id === 'bigint') return String(id);
  return typeof id === 'object' && id !== null ? writtenBy(id) : undefined;
}

function writtenBy(id: Written): string | undefined {
  // Decoded as text, all invalid UTF-8 would become the same character.
  if (ArrayBuffer.isView(id)) return bytesOfView(id).toString('hex');
  // ['a,b'] and ['a', 'b'] convert to the same text.
  if (Array.isArray(id)) return undefined;
  const json = called(id.toJSON, id);
  if (isText(json)) return json;
  const text = typeof json === 'object' && json !== null ? undefined : called(id.toString, id);
  // Object.prototype.toString returns only the kind of an object.
  return isText(text) && !text.startsWith('[object ') ? text : undefined;
}

const called = (method: unknown, id: object): unknown =>
  typeof method === 'function' ? (method as () => unknown).call(id) : undefined;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
