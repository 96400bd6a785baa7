import { NamedValues } from './named-values';
import type { ValueSource } from './value-source';

/** SPEC, "Form fields": names in any case, and the files of a multipart form. */
export const form: ValueSource = {
  source: 'form',
  missing: 'A value is required.',
  open(context) {
    const { body } = context;
    if (body.kind !== 'form') return undefined;
    const fields = new NamedValues(body.fields);
    return slot => {
      const place = context.at('form', slot.name);
      const sent = body.files.filter(({ fieldname }) => fieldname.replace(/\[\d*\]$/, '').toLowerCase() === slot.name.toLowerCase());
      if (sent.length === 0) return fields.read(slot, place);
      return slot.type.fromFiles ? slot.type.fromFiles(sent, place) : place.fail('A file was sent where a value is expected.');
    };
  },
};
