import { fileRules, type FileRules } from './rule-kinds';
import { ruledType, type RuledType } from './rules';

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: RuledType<UploadedFile, FileRules> = ruledType('file', fileRules, () => ({
  kind: 'file',
  name: 'file',
}));
