import { getDefaultHighWaterMark, Readable, type Writable } from 'node:stream';
import type { FilePart, FormPart } from './form-parts';

/** Bytes of a file that its stream buffers, here and in busboy. */
const BUFFER = getDefaultHighWaterMark(false);

/** The content of a file, as the stream that a storage gets. */
export type Content = Readable & {
  /** Stores the content at a path without reading it. Returns its size in bytes; undefined if that is not possible. */
  readonly moveTo?: (path: string) => Promise<number | undefined>;
};

/** Makes the stream of a file's content. */
export function contentFrom(chunks: Iterable<Buffer> | AsyncIterable<Buffer>, moveTo?: Content['moveTo']): Content {
  return Object.assign(Readable.from(chunks, { objectMode: false, highWaterMark: BUFFER }), { moveTo });
}

/**
 * Makes a busboy announce parts that were recorded, as if it parsed them. It does not look at its limits.
 * @param contentOf opens the content of a file.
 * @param isRefused tells whether the form has been refused meanwhile.
 */
export async function announce(
  parts: readonly FormPart[],
  busboy: Writable,
  contentOf: (file: FilePart) => Content,
  isRefused: () => boolean,
): Promise<void> {
  const files: Promise<unknown>[] = [];
  for (const part of parts) {
    if (isRefused()) return;
    if (part.kind === 'field') busboy.emit('field', ...part.event);
    else {
      const content = contentOf(part);
      files.push(new Promise(resolve => content.once('close', resolve)));
      busboy.emit('file', part.name, Object.assign(content, { truncated: false }), part.info);
      // A parser goes on while a file fits into its buffer, and a storage or a filter may wait for a later file: so
      // only a large file is waited for.
      if (part.end - part.start >= BUFFER) await files.at(-1);
    }
  }
  await Promise.all(files);
  busboy.emit('close');
}
