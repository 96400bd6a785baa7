/** Methods by which database ids convert themselves to text, the most exact one first. */
const WRITERS = ['toHexString', 'toJSON', 'toString'] as const;

type Writer = Readonly<Record<(typeof WRITERS)[number], unknown>>;

/**
 * Returns the text of an id: of text, a finite number, a bigint, bytes, or an object that converts itself to text.
 * @returns undefined for everything else: two different ids must not have the same text.
 */
export function textOf(id: unknown): string | undefined {
  if (typeof id === 'string') return id === '' ? undefined : id;
  if (typeof id === 'number') return Number.isFinite(id) ? String(id) : undefined;
  if (typeof id === 'bigint') return String(id);
  return typeof id === 'object' && id !== null ? writtenBy(id as Writer) : undefined;
}

function writtenBy(id: Writer): string | undefined {
  // Decoded as text, all invalid UTF-8 would become the same character.
  if (ArrayBuffer.isView(id)) return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
  // ['a,b'] and ['a', 'b'] convert to the same text.
  if (Array.isArray(id)) return undefined;
  for (const name of WRITERS) {
    const { [name]: write } = id;
    const text: unknown = typeof write === 'function' ? write.call(id) : undefined;
    // Object.prototype.toString returns only the kind of an object.
    if (typeof text === 'string' && text !== '' && !text.startsWith('[object ')) return text;
  }
  return undefined;
}
