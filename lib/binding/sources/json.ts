import { isJsonObject } from '../json/json-text';
import { readJson } from '../reading/reading';
import type { ValueSource } from './value-source';

/** SPEC, "JSON body": the fields of the object by name, each name exactly. */
export const json: ValueSource = {
  source: 'json',
  missing: 'A value is required.',
  open(input) {
    const { body } = input;
    // `null` is a body without values, like no body at all.
    if (body.kind !== 'json' || body.value === null) return undefined;
    const { value: object } = body;
    if (!isJsonObject(object)) {
      input.placeOf('json', '').failValue(object, 'JSON object');
      return undefined;
    }
    const place = input.placeOf('json', '');
    return slot => {
      const { name } = slot;
      // Own fields only: `constructor` and `__proto__` are names like any other.
      const value = Object.hasOwn(object, name) ? object[name] : undefined;
      if (value === undefined) return undefined;
      place.enter(name);
      const read = readJson(slot, value, place);
      place.leave();
      return read;
    };
  },
};
