import type { Readable } from 'node:stream';

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
