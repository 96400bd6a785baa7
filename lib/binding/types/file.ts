import type { ValueType } from './property-type';
import { typeWith } from './scalar';

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: ValueType<UploadedFile> = typeWith<UploadedFile>({ kind: 'file', name: 'file' });
