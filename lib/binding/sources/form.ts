import { INVALID } from '../place';
import { NamedValues, readNamed } from './named-values';
import type { ValueSource } from './value-source';

/** SPEC, "Form fields": names in any case, and the files of a multipart form. */
export const form: ValueSource = {
  source: 'form',
  missing: 'A value is required.',
  open(context) {
    const { body } = context;
    if (body.kind !== 'form') return undefined;
    const fields = new NamedValues(body.fields);
    const files = new NamedValues(body.files.map(file => [file.fieldname, file] as const));
    return slot => {
      const place = context.at('form', slot.name);
      const sent = files.of(slot, place);
      if (sent === undefined) return readNamed(fields, slot, place);
      if (sent === INVALID) return INVALID;
      return slot.type.fromFiles ? slot.type.fromFiles(sent, place) : place.fail('A file was sent where a value is expected.');
    };
  },
};
