import type { Form } from '../../body/form/form';
import { readByName, type SentPair } from './read-by-name';
import type { ValueSource } from './request-input';

const NONE: Form = { fields: [], files: [] };

/** The fields of a form and the files of a multipart form; names are case-insensitive. */
export const form: ValueSource = {
  name: 'form',
  read(input, sourceProperties, found) {
    const { body } = input;
    const { fields, files } = (body.kind === 'form' || body.kind === 'text' ? body.form : undefined) ?? NONE;
    readByName(
      'form',
      files.length === 0 ? fields : [...fields, ...files.map((file): SentPair => [file.fieldname, file])],
      input,
      sourceProperties,
      found,
    );
  },
};
