import { byName, type SentPair } from './names';
import type { ValueSource } from './value-source';

/** SPEC, "Form fields": names in any case, and the files of a multipart form. */
export const form: ValueSource = {
  source: 'form',
  missing: 'A value is required.',
  open(input, slots) {
    const { body } = input;
    const { fields, files } = (body.kind === 'form' || body.kind === 'text' ? body.form : undefined) ?? { fields: [], files: [] };
    return byName('form', [...fields, ...files.map((file): SentPair => [file.fieldname, file])], input, slots);
  },
};
