/** Methods by which the ids of databases write themselves, the most exact one first. */
const WRITERS = ['toHexString', 'toJSON', 'toString'] as const;

type Writer = Readonly<Record<(typeof WRITERS)[number], unknown>>;

/**
 * The text of an id: of text, a finite number, a bigint, bytes, or an object that writes itself as text.
 * @returns undefined for everything else: no two ids may have one text.
 */
export function textOf(id: unknown): string | undefined {
  if (typeof id === 'string') return id === '' ? undefined : id;
  if (typeof id === 'number') return Number.isFinite(id) ? String(id) : undefined;
  if (typeof id === 'bigint') return String(id);
  return typeof id === 'object' && id !== null ? writtenBy(id as Writer) : undefined;
}

function writtenBy(id: Writer): string | undefined {
  // As text, all bytes that are not UTF-8 would be one character.
  if (ArrayBuffer.isView(id)) return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
  // ['a,b'] and ['a', 'b'] write themselves alike.
  if (Array.isArray(id)) return undefined;
  for (const name of WRITERS) {
    const { [name]: write } = id;
    const text: unknown = typeof write === 'function' ? write.call(id) : undefined;
    // Object.prototype.toString writes the kind of an object only.
    if (typeof text === 'string' && text !== '' && !text.startsWith('[object ')) return text;
  }
  return undefined;
}
