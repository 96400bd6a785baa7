import type { Readable } from 'node:stream';
import multer from 'multer';
import { decodedText } from '../content/decode';
import { fieldsTooLarge } from '../content/errors';
import type { FormOptions } from './form';
import { malformed } from './errors';
import type { Pair } from '../content/urlencoded';

/** Information of busboy about a field; `…Truncated` if it has cut it off. */
interface FieldInfo {
  readonly nameTruncated: boolean;
  readonly valueTruncated: boolean;
}

/** Arguments that busboy passes to a listener for `field`. */
export type FieldEvent = [name: string | undefined, value: string | undefined, info: FieldInfo];

/** Bytes of memory that a part takes beside its texts. */
export const PART_BYTES = 200;

/** A file of JSON that was read as a field. */
interface ReadFile {
  readonly originalname: string;
  readonly size: number;
}

const readFiles = new WeakMap<Pair, ReadFile>();

/** Returns the file that a field was read from; undefined for a field that was sent as one. */
export const fileOf = (field: Pair): ReadFile | undefined => readFiles.get(field);

/** The fields of one form while it is read, in the order in which they begin. */
export class FormFields {
  readonly pairs: Pair[] = [];
  private bytes = 0;

  constructor(
    private readonly options: FormOptions,
    private readonly refuse: (error: unknown) => void,
  ) {}

  /** Adds a field, as busboy emits it. */
  add(...[name, value, cut]: FieldEvent): void {
    const field: Pair = [unescaped(name ?? ''), value ?? ''];
    const bytes = Buffer.byteLength(field.join(''));
    const error = errorInName(name, this.options) ?? errorInField(field[0], value, cut);
    if (error) this.refuse(error);
    else if (this.isWithin(bytes) && this.takes(bytes + PART_BYTES)) this.pairs.push(field);
  }

  /**
   * Adds a part that was sent as a file. Its place among the fields is taken at once, because busboy goes on to later
   * fields before this part has been read.
   */
  addFromFile({ fieldname: name, originalname }: Express.Multer.File, stream: Readable): void {
    const { fieldSize = Infinity } = this.options.limits;
    const place = this.pairs.push([name, '']) - 1;
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > fieldSize) this.refuse(new multer.MulterError('LIMIT_FIELD_VALUE', name));
      else if (this.isWithin(chunk.length) && this.takes(chunk.length)) chunks.push(chunk);
    });
    stream.on('end', () => {
      try {
        const field: Pair = [name, decodedText(Buffer.concat(chunks))];
        readFiles.set(field, { originalname, size });
        this.pairs[place] = field;
      } catch (error) {
        this.refuse(error);
      }
    });
  }

  /** Takes memory for a part. Returns false, and refuses the form, when it is not to be had. */
  takes(bytes: number): boolean {
    try {
      this.options.takePart?.(bytes);
      return true;
    } catch (error) {
      this.refuse(error);
      return false;
    }
  }

  /** Counts the bytes. Returns false, and refuses the form, when all fields together are too long. */
  private isWithin(bytes: number): boolean {
    const { fieldsBytes = Infinity } = this.options;
    this.bytes += bytes;
    if (this.bytes > fieldsBytes) this.refuse(fieldsTooLarge(fieldsBytes));
    return this.bytes <= fieldsBytes;
  }
}

/** Undoes the escapes of browsers in names (HTML Standard, 4.10.22.8), as multer does for files. */
export const unescaped = (name: string): string => name.replace(/%0A|%0D|%22/gi, decodeURIComponent);

/** Checks the name of a field or a file. */
export function errorInName(name: string | undefined, { limits }: FormOptions): multer.MulterError | undefined {
  if (name === undefined) return new multer.MulterError('MISSING_FIELD_NAME');
  return name.length > (limits.fieldNameSize ?? Infinity) ? new multer.MulterError('LIMIT_FIELD_KEY') : undefined;
}

/** Makes the checks of multer's own listener, and one of the charset, which multer does not make. */
function errorInField(
  name: string,
  value: string | undefined,
  { nameTruncated, valueTruncated }: FieldInfo,
): Error | undefined {
  if (nameTruncated) return new multer.MulterError('LIMIT_FIELD_KEY');
  if (valueTruncated) return new multer.MulterError('LIMIT_FIELD_VALUE', name);
  if (value === undefined)
    return malformed(
      `The form field ${JSON.stringify(name.slice(0, 80))} is in a charset that is not supported; send UTF-8.`,
    );
  return undefined;
}
