import type { RequestHandler } from 'express';
import multer from 'multer';

/** A parser other than multer, and the object that it leaves for a file. The packages are no dependencies here. */
export interface ForeignParser {
  readonly title: string;
  readonly storage: 'memory' | 'disk';
  readonly leave: (file: Express.Multer.File) => object;
}

/** As formidable makes them: their JSON is an object, without the content. */
class PersistentFile {
  constructor(members: object) {
    Object.assign(this, members);
  }

  toJSON(): object {
    return { ...this };
  }
}

const ofMultiparty = ({ fieldname, originalname, path, size, mimetype }: Express.Multer.File): object => ({
  fieldName: fieldname,
  originalFilename: originalname,
  path,
  headers: { 'content-type': mimetype },
  size,
  name: originalname,
  type: mimetype,
});

/** As express-fileupload 1.5.2 leaves it. */
const ofFileUpload = (
  { originalname, size, mimetype, encoding }: Express.Multer.File,
  data: Buffer,
  tempFilePath: string,
): object => ({
  name: originalname,
  data,
  size,
  encoding,
  tempFilePath,
  truncated: false,
  mimetype,
  md5: '0cc175b9c0f1b6a831c399e269772661',
  mv: (to: string) => `moved to ${to}`,
});

export const foreignParsers: readonly ForeignParser[] = [
  { title: 'express-fileupload 1.5.2', storage: 'memory', leave: file => ofFileUpload(file, file.buffer, '') },
  {
    title: 'express-fileupload 1.5.2 with useTempFiles',
    storage: 'disk',
    leave: file => ofFileUpload(file, Buffer.alloc(0), file.path),
  },
  {
    title: 'formidable 1.2.6',
    storage: 'disk',
    leave: ({ originalname: name, path, size, mimetype: type }) =>
      new PersistentFile({ name, path, size, type, hash: null, lastModifiedDate: new Date() }),
  },
  {
    title: 'formidable 3.5.4',
    storage: 'disk',
    leave: ({ originalname, path, size, mimetype, filename }) =>
      new PersistentFile({ originalFilename: originalname, filepath: path, newFilename: filename, size, mimetype }),
  },
  { title: 'connect-multiparty 2.2.0', storage: 'disk', leave: ofMultiparty },
  { title: 'express-form-data 3.0.1', storage: 'disk', leave: ofMultiparty },
];

/** Leaves the files of a form by their fields, as the parser does. @param dest where those on disk are stored. */
export function foreignParser({ storage, leave }: ForeignParser, dest: string): RequestHandler {
  const read = multer(storage === 'disk' ? { dest } : {}).any();
  return (req, res, next) => {
    void read(req, res, (error?: unknown) => {
      const byField: Record<string, object[]> = {};
      for (const file of (req.files ?? []) as Express.Multer.File[]) (byField[file.fieldname] ??= []).push(leave(file));
      Object.assign(req, { files: byField });
      next(error);
    });
  };
}

/** Puts the files into the body, as `union()` of express-form-data does. */
export const union: RequestHandler = (req, _res, next) => {
  Object.assign(req.body as object, req.files);
  next();
};
