import type { Writable } from 'node:stream';
import type { FieldEvent, FileEvent, FileInfo } from './busboy-events';
import { PART_BYTES, type FormPart } from './form-parts';

/** A file while busboy parses it. */
interface OpenFile {
  readonly name: string | undefined;
  readonly info: FileInfo;
  size: number;
}

/** Bytes of memory that a character takes, at most. */
const CHARACTER_BYTES = 2;

/** Records the parts of a form while busboy parses it. */
export class PartRecorder {
  private announced: (FieldEvent | OpenFile)[] = [];
  private boundaries: number[] = [];
  private bytes = 0;
  /** Boundaries without a part that busboy has announced; the one that ends the form has none. */
  private unannounced = -1;
  private hasNamelessContent = false;

  /** @param mostBytes of memory that the parts of one form may take. */
  constructor(private readonly mostBytes: number) {}

  /** Records where in the body a boundary begins, with the line break before it. */
  readonly boundaryAt = (position: number): void => {
    this.unannounced++;
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
        if (!info.filename) this.hasNamelessContent = true;
      });
      this.add(file, name, info.filename, info.encoding, info.mimeType);
    });
  }

  /**
   * True if a form that has been parsed to its end has content beside its fields and files: of a file without a name,
   * which multer drops, or of a part that busboy has skipped, because 2,000 other lines come before its
   * `Content-Disposition`.
   */
  get hasOtherContent(): boolean {
    return this.hasNamelessContent || this.unannounced !== 0;
  }

  /**
   * Returns the parts of a form that has been parsed to its end. Returns undefined if they take too much memory, or if
   * busboy has skipped one: then it is not known which boundary ends which part.
   */
  parts(): readonly FormPart[] | undefined {
    if (!this.hasRoomFor(0) || this.unannounced !== 0) return undefined;
    return this.announced.map((part, index): FormPart => {
      const [start, end] = this.boundaries.slice(index, index + 2) as [number, number];
      return Array.isArray(part)
        ? { kind: 'field', event: part, length: end - start }
        : { kind: 'file', name: part.name, info: part.info, start: end - part.size, end };
    });
  }

  private add(part: FieldEvent | OpenFile, ...texts: (string | undefined)[]): void {
    this.unannounced--;
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
