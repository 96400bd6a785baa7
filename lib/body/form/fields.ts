import { decodedText } from '../content/decode';
import { fieldsTooLarge } from '../content/errors';
import type { Pair } from '../content/urlencoded';
import { malformed, overLimit, quotedName, type FormOptions } from './form';

/** Bytes of memory that a part takes beside its texts. */
const PART_BYTES = 200;

/** A file of JSON that was read as a field. */
interface ReadFile {
  readonly originalname: string;
  readonly size: number;
}

const readFiles = new WeakMap<Pair, ReadFile>();

/** Returns the file that a field was read from; undefined for a field that was sent as one. */
export const fileOf = (field: Pair): ReadFile | undefined => readFiles.get(field);

/**
 * The fields of one form while it is read, in the order in which they begin. Its methods throw a 400 or 413 problem, or
 * the error of `takePart`.
 */
export class FormFields {
  readonly pairs: Pair[] = [];
  private bytes = 0;

  constructor(private readonly options: FormOptions) {}

  /** Takes the name of a field or a file, undefined if it has none, and memory for what else is known of it. */
  begin(name: string | undefined, ...others: readonly string[]): string {
    if (name === undefined) throw malformed('The multipart form is malformed: Field name missing.');
    if (name.length > (this.options.limits.fieldNameSize ?? Infinity)) throw overLimit('fieldNameSize', this.options);
    this.options.takePart?.(Buffer.byteLength([name, ...others].join('')) + PART_BYTES);
    return unescaped(name);
  }

  /** Adds a field, as busboy emits it. */
  add(sent: string | undefined, value: string | undefined, info: { readonly valueTruncated: boolean }): void {
    const name = this.begin(sent, value ?? '');
    if (info.valueTruncated) throw overLimit('fieldSize', this.options, name);
    if (value === undefined)
      throw malformed(`The form field ${quotedName(name)} is in a charset that is not supported; send UTF-8.`);
    this.count(Buffer.byteLength(name + value));
    this.pairs.push([name, value]);
  }

  /**
   * Adds a part that was sent as a file. Its place among the fields is taken at once, because busboy goes on to later
   * fields before this part has been read.
   */
  async addFile({ fieldname: name, originalname, stream }: Express.Multer.File): Promise<void> {
    const { limits, takePart } = this.options;
    const place = this.pairs.push([name, '']) - 1;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > (limits.fieldSize ?? Infinity)) throw overLimit('fieldSize', this.options, name);
      this.count(chunk.length);
      takePart?.(chunk.length);
      chunks.push(chunk);
    }
    const field: Pair = [name, decodedText(Buffer.concat(chunks))];
    readFiles.set(field, { originalname, size });
    this.pairs[place] = field;
  }

  /** Counts the bytes of all fields together. */
  private count(bytes: number): void {
    const { fieldsBytes = Infinity } = this.options;
    this.bytes += bytes;
    if (this.bytes > fieldsBytes) throw fieldsTooLarge(fieldsBytes);
  }
}

/** Undoes the escapes of browsers in names (HTML Standard, 4.10.22.8), as multer does for files. */
const unescaped = (name: string): string => name.replace(/%0A|%0D|%22/gi, decodeURIComponent);
