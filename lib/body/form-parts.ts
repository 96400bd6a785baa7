import { Readable, type Writable } from 'node:stream';

/** The marks that busboy sets on a field that it has cut off. */
export interface Truncation {
  readonly nameTruncated: boolean;
  readonly valueTruncated: boolean;
}

/** What busboy tells of a file. */
export interface FileInfo {
  readonly filename?: string;
}

/** What busboy passes to a listener for `field`. */
export type FieldEvent = [name: string | undefined, value: string | undefined, info: Truncation];

/** What busboy passes to a listener for `file`. */
export type FileEvent = [name: string | undefined, content: Readable, info: FileInfo];

/** A field of a parsed form. */
export interface FieldPart {
  readonly kind: 'field';
  readonly event: FieldEvent;
  /** Bytes of the whole part, with its boundary and its head. */
  readonly length: number;
}

/** A file of a parsed form. Its content is the bytes of the body from `start` up to `end`. */
export interface FilePart {
  readonly kind: 'file';
  readonly name: string | undefined;
  readonly info: FileInfo;
  readonly start: number;
  readonly end: number;
}

export type FormPart = FieldPart | FilePart;

/** A file while busboy parses it. */
interface OpenFile {
  readonly name: string | undefined;
  readonly info: FileInfo;
  size: number;
}

/** Bytes of memory that a part takes beside its texts, roughly. */
const PART_BYTES = 200;

/** Records the parts of a form while busboy parses it. */
export class PartRecorder {
  private readonly announced: (FieldEvent | OpenFile)[] = [];
  private readonly boundaries: number[] = [];
  private bytes = 0;

  /** @param mostBytes of memory that the parts of one form may take. */
  constructor(private readonly mostBytes: number) {}

  /** Records where in the body a boundary begins, with the line break before it. */
  readonly boundaryAt = (position: number): void => {
    if (this.hasRoom) this.boundaries.push(position);
  };

  watch(busboy: Writable): void {
    busboy.on('field', (...event: FieldEvent) => {
      const [name, value] = event;
      this.add(event, name, value);
    });
    busboy.on('file', (...[name, content, info]: FileEvent) => {
      const file: OpenFile = { name, info, size: 0 };
      content.on('data', (chunk: Buffer) => {
        file.size += chunk.length;
      });
      this.add(file, name, info.filename);
    });
  }

  /**
   * Returns the parts of a form that has been parsed to its end. Returns undefined if they take too much memory, or if
   * busboy has skipped one (it has no name, say): then it is not known which boundary ends which part.
   */
  parts(): readonly FormPart[] | undefined {
    if (!this.hasRoom || this.announced.length !== this.boundaries.length - 1) return undefined;
    return this.announced.map((part, index): FormPart => {
      const [start, end] = this.boundaries.slice(index, index + 2) as [number, number];
      return Array.isArray(part)
        ? { kind: 'field', event: part, length: end - start }
        : { kind: 'file', name: part.name, info: part.info, start: end - part.size, end };
    });
  }

  private add(part: FieldEvent | OpenFile, ...texts: (string | undefined)[]): void {
    this.bytes += texts.reduce((sum, text = '') => sum + text.length, PART_BYTES);
    if (this.hasRoom) this.announced.push(part);
  }

  private get hasRoom(): boolean {
    return this.bytes <= this.mostBytes;
  }
}

/**
 * Makes a busboy announce parts that were recorded, as if it parsed them. It does not look at its limits.
 * @param contentOf yields the content of a file.
 * @param isRefused tells whether the form has been refused meanwhile.
 */
export async function announce(
  parts: readonly FormPart[],
  busboy: Writable,
  contentOf: (file: FilePart) => AsyncIterable<Buffer>,
  isRefused: () => boolean,
): Promise<void> {
  for (const part of parts) {
    if (isRefused()) return;
    if (part.kind === 'field') busboy.emit('field', ...part.event);
    else {
      const content = Readable.from(contentOf(part), { objectMode: false });
      const closed = new Promise(resolve => content.once('close', resolve));
      busboy.emit('file', part.name, Object.assign(content, { truncated: false }), part.info);
      await closed;
    }
  }
  busboy.emit('close');
}
