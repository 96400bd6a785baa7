import { getDefaultHighWaterMark, Readable, type Writable } from 'node:stream';
import { isJsonType } from '../content/media-type';

/** Information of busboy about a field; `…Truncated` if it has cut it off. */
export interface FieldInfo {
  readonly nameTruncated: boolean;
  readonly valueTruncated: boolean;
  readonly encoding: string;
  readonly mimeType: string;
}

/** Information of busboy about a file. */
export interface FileInfo {
  readonly filename?: string;
  readonly encoding: string;
  readonly mimeType: string;
}

/** Arguments that busboy passes to a listener for `field`. */
export type FieldEvent = [name: string | undefined, value: string | undefined, info: FieldInfo];

/** Arguments that busboy passes to a listener for `file`. */
export type FileEvent = [name: string | undefined, content: Readable, info: FileInfo];

/** A field of a parsed form. */
export interface FieldPart {
  readonly kind: 'field';
  readonly event: FieldEvent;
  /** Bytes of the whole part. Those of the value are not known, but they are fewer. */
  readonly length: number;
}

/** The bytes of a body from `start` up to `end`. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A file of a parsed form, and the place of its content. */
export interface FilePart extends Place {
  readonly kind: 'file';
  readonly name: string | undefined;
  readonly info: FileInfo;
}

export type FormPart = FieldPart | FilePart;

/** A file while busboy parses it. */
interface OpenFile {
  readonly name: string | undefined;
  readonly info: FileInfo;
  size: number;
}

/** Bytes of memory that a part takes beside its texts. */
export const PART_BYTES = 200;

/** Bytes of memory that a character takes, at most. */
const CHARACTER_BYTES = 2;

/** Records the parts of a form while busboy parses it. */
export class PartRecorder {
  private announced: (FieldEvent | OpenFile)[] = [];
  private boundaries: number[] = [];
  private bytes = 0;

  /** @param mostBytes of memory that the parts of one form may take. */
  constructor(private readonly mostBytes: number) {}

  /** Records where in the body a boundary begins, with the line break before it. */
  readonly boundaryAt = (position: number): void => {
    if (this.hasRoomFor(PART_BYTES)) this.boundaries.push(position);
  };

  watch(busboy: Writable): void {
    busboy.on('field', (...event: FieldEvent) => {
      const [name, value, { encoding, mimeType }] = event;
      this.add(event, name, value, encoding, mimeType);
    });
    busboy.on('file', (...[name, content, info]: FileEvent) => {
      const file: OpenFile = { name, info, size: 0 };
      content.on('data', (chunk: Buffer) => {
        file.size += chunk.length;
      });
      this.add(file, name, info.filename, info.encoding, info.mimeType);
    });
  }

  /**
   * Returns the parts of a form that has been parsed to its end. Returns undefined if they take too much memory, or if
   * busboy has skipped one that is no `form-data`: then it is not known which boundary ends which part.
   */
  parts(): readonly FormPart[] | undefined {
    if (!this.hasRoomFor(0) || this.announced.length !== this.boundaries.length - 1) return undefined;
    return this.announced.map((part, index): FormPart => {
      const [start, end] = this.boundaries.slice(index, index + 2) as [number, number];
      return Array.isArray(part)
        ? { kind: 'field', event: part, length: end - start }
        : { kind: 'file', name: part.name, info: part.info, start: end - part.size, end };
    });
  }

  private add(part: FieldEvent | OpenFile, ...texts: (string | undefined)[]): void {
    const characters = texts.reduce((sum, text = '') => sum + text.length, 0);
    if (this.hasRoomFor(characters * CHARACTER_BYTES)) this.announced.push(part);
  }

  /** Counts bytes. Returns false, and forgets the parts, if there are too many. */
  private hasRoomFor(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes <= this.mostBytes) return true;
    [this.announced, this.boundaries] = [[], []];
    return false;
  }
}

/**
 * Returns the parts of a form that was parsed without the content of some files, with their places in the whole form.
 * @param apart where that content is in the whole form.
 * @returns undefined if it is not of files whose bytes are only stored: then the parts of the whole form are others.
 */
export function withContent(parts: readonly FormPart[], apart: readonly Place[]): readonly FormPart[] | undefined {
  const left = [...apart];
  let before = 0;
  const placed = parts.map((part): FormPart => {
    if (part.kind === 'field') return part;
    const start = part.start + before;
    const [next] = left;
    if (next?.start === start && part.end === part.start && !isJsonFile(part)) {
      left.shift();
      before += next.end - next.start;
    }
    return { ...part, start, end: part.end + before };
  });
  return left.length === 0 ? placed : undefined;
}

/** Returns true for a file that may be read as a field. */
export const isJsonFile = ({ info }: FilePart): boolean => isJsonType(info.mimeType.toLowerCase());

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
