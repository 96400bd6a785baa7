import { isJsonObject } from '../reading/json-text';
import type { ValueSource } from './value-source';

/** SPEC, "JSON body": the fields of the object by name, each name exactly. */
export const json: ValueSource = {
  source: 'json',
  missing: 'A value is required.',
  read(input, _slots, found) {
    const { body, plan } = input;
    // `null` is a body without values, like no body at all.
    if (body.kind !== 'json' || body.value === null) return;
    const location = input.locationOf('json', '');
    if (isJsonObject(body.value)) plan.readFields(found, body.value, location);
    else location.failValue(body.value, 'JSON object');
  },
};
