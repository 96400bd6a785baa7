import type { Readable } from 'node:stream';
import type multer from 'multer';
import { Problem } from '../../problems/problem';
import { decodedText, isJsonType } from '../content/headers';
import type { Pair } from '../content/urlencoded';

/** The parts of a form that are kept, and how they are read. */
export interface PartsTaken {
  /** True for the name of a file that is stored; others are dropped. */
  readonly takesFile: (name: string) => boolean;
  /** True for the name of a part that is read as a field even if it is sent as a JSON file, as clients send a Blob. */
  readonly takesJson: (name: string) => boolean;
}

/** What the parts of a form may take, and what is told of them. */
export interface PartsOptions {
  readonly limits: NonNullable<Exclude<multer.Options['limits'], (...given: never[]) => unknown>>;
  /** Bytes of all fields together: multer bounds each, and their number. */
  readonly fieldsBytes?: number;
  readonly parts: PartsTaken;
  /** Called with the bytes of memory that each part takes; when it throws, the form is refused. */
  readonly takePart?: (bytes: number) => void;
}

/** What a form is told that exceeds a limit. Multer's own messages do not say how much is allowed. */
const messages = {
  fileSize: (most: number, field: string) => `The file${field} is larger than ${most} bytes.`,
  files: (most: number) => `The form has more than ${most} files.`,
  fields: (most: number) => `The form has more than ${most} fields.`,
  fieldSize: (most: number, field: string) => `The field${field} is larger than ${most} bytes.`,
  fieldNameSize: (most: number) => `A name in the form is longer than ${most} characters.`,
  parts: (most: number) => `The form has more than ${most} fields and files together.`,
} satisfies Partial<Record<keyof PartsOptions['limits'], unknown>>;

export const MALFORMED = 'The multipart form is malformed.';
export const malformed = (message: string, cause?: unknown): Problem =>
  new Problem('body-malformed', message, { cause });

/** Quotes the name of a part for a message. */
const quoted = (name: string): string => JSON.stringify(name.slice(0, 80));

/** Bytes of memory that a part takes beside its texts. */
const PART_BYTES = 200;

type File = Express.Multer.File;

/** What busboy tells of a field and of a file. */
type FieldInfo = { readonly valueTruncated: boolean; readonly mimeType: string };
type FileInfo = { readonly filename?: string; readonly mimeType: string };

/** Takes the fields of one form, as flat pairs, and says which of its files are stored. */
export class FormParts {
  /** In the order in which they begin. */
  readonly fields: Pair[] = [];
  private fieldsBytes = 0;
  /** How many parts have begun. */
  begun = 0;

  constructor(private readonly options: PartsOptions) {}

  /**
   * Makes the 413 problem of a form that exceeds a limit of multer.
   * @param field the name of the part that exceeds it.
   */
  overLimit(name: keyof typeof messages, field?: string): Problem {
    const most = this.options.limits[name] ?? Infinity;
    return new Problem('body-too-large', messages[name](most, field === undefined ? '' : ` ${quoted(field)}`));
  }

  readonly takeField = (sent?: string, value?: string, info?: FieldInfo): void => {
    const name = this.begin(sent, value ?? '');
    if (info?.valueTruncated) throw this.overLimit('fieldSize', name);
    if (value === undefined)
      throw malformed(`The form field ${quoted(name)} is in a charset that is not supported; send UTF-8.`);
    this.count(Buffer.byteLength(name + value));
    this.fields.push(isJsonType(info?.mimeType.toLowerCase() ?? '') ? [name, value, 'json'] : [name, value]);
  };

  /** @param stream destroyed when the file must be refused. */
  readonly beginFile = (sent: string | undefined, stream: Readable, { filename = '', mimeType }: FileInfo): void => {
    const name = this.begin(sent, filename, mimeType);
    if (filename !== '' || !this.options.parts.takesFile(name)) return;
    // Busboy takes content without a file name for a file if its type is `application/octet-stream`, and multer drops
    // it, so that a handler would run without what the client has sent.
    const error = malformed(
      `In the multipart form, the part ${quoted(name)} has content and no file name. With a file, send ` +
        'filename="…"; send text without the type application/octet-stream.',
    );
    stream.once('data', () => stream.destroy(error));
  };

  /** Takes the name of a part, undefined if it has none, and memory for what else is known of it. */
  private begin(name: string | undefined, ...others: readonly string[]): string {
    const { limits, takePart } = this.options;
    this.begun++;
    if (name === undefined) throw malformed('The multipart form is malformed: Field name missing.');
    if (name.length > (limits.fieldNameSize ?? Infinity)) throw this.overLimit('fieldNameSize');
    takePart?.(Buffer.byteLength([name, ...others].join('')) + PART_BYTES);
    // The escapes of browsers (HTML Standard, 4.10.22.8), which multer undoes for files.
    return name.replace(/%0A|%0D|%22/gi, decodeURIComponent);
  }

  /** Counts the bytes of all fields together. */
  private count(bytes: number): void {
    const { fieldsBytes = Infinity } = this.options;
    this.fieldsBytes += bytes;
    if (this.fieldsBytes > fieldsBytes)
      throw new Problem('body-too-large', `The fields of the form are together larger than ${fieldsBytes} bytes.`);
  }

  /** Returns true for a file that is read as a field. */
  isField({ fieldname, mimetype }: File): boolean {
    return isJsonType(mimetype.toLowerCase()) && this.options.parts.takesJson(fieldname);
  }

  /** Reads a file as a field. It takes its place at once: busboy goes on to later fields before this one is read. */
  async readField({ fieldname, originalname, stream }: File): Promise<void> {
    const place = this.fields.push([fieldname, '']) - 1;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > (this.options.limits.fieldSize ?? Infinity)) throw this.overLimit('fieldSize', fieldname);
      this.count(chunk.length);
      this.options.takePart?.(chunk.length);
      chunks.push(chunk);
    }
    const text = decodedText(Buffer.concat(chunks));
    this.fields[place] = [fieldname, text, 'json', JSON.stringify([originalname, size])];
  }
}
