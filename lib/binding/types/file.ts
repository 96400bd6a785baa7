import type { Invalid, Location } from '../reading/location';
import type { ValueType } from './property-type';
import { typeWith } from './scalar';

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: ValueType<UploadedFile> = typeWith<UploadedFile>({
  name: 'file',
  shape: 'file',
  // Swagger UI offers a file only for the format of OpenAPI 3.0. The length of unencoded data is its number of bytes
  // (OpenAPI 3.1.1, "Working with Binary Data").
  schema: ({ limits }) => ({
    type: 'string',
    format: 'binary',
    contentMediaType: 'application/octet-stream',
    ...(limits && { maxLength: limits.fileBytes }),
  }),
  fromText: (_values, location) => failNoFile(location),
  fromJson: (_value, location) => failNoFile(location),
  fromFiles(files, location) {
    const [only] = files;
    const count = files.length;
    return only && count === 1
      ? only
      : location.fail('several-files', `There are ${count} files where one is expected.`, { count });
  },
});

const failNoFile = (location: Location): Invalid => location.fail('file-expected', 'A file is expected.');
