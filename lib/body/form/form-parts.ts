import { isJsonType } from '../content/media-type';
import type { FieldEvent, FileInfo } from './busboy-events';

/** A field of a parsed form. */
interface FieldPart {
  readonly kind: 'field';
  readonly event: FieldEvent;
  /** Bytes of the whole part. Those of the value are not known, but they are fewer. */
  readonly length: number;
}

/** The bytes of a body from `start` up to `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file of a parsed form, and where its content is. */
export interface FilePart extends ByteRange {
  readonly kind: 'file';
  readonly name: string | undefined;
  readonly info: FileInfo;
}

export type FormPart = FieldPart | FilePart;

/** Bytes of memory that a part takes beside its texts. */
export const PART_BYTES = 200;

/** Returns true for a file that may be read as a field. */
export const isJsonFile = ({ info }: FilePart): boolean => isJsonType(info.mimeType.toLowerCase());

/** Returns true for a file whose bytes are only stored. Multer drops files without a name. */
export const isOnlyStored = (part: FilePart): boolean => Boolean(part.info.filename) && !isJsonFile(part);
