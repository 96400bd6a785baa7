import type { PropertyType } from './property-type';

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: PropertyType<UploadedFile> = {
  name: 'file',
  shape: 'file',
  fromText: (_values, place) => place.fail('A file is expected.'),
  fromJson: (_value, place) => place.fail('A file is expected.'),
  fromFiles(files, place) {
    const [only] = files;
    return only && files.length === 1 ? only : place.fail(`There are ${files.length} files where one is expected.`);
  },
};
