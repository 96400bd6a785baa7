import { readJson } from '../read-slot';
import { isJsonObject } from '../types/object';
import type { ValueSource } from './value-source';

/** SPEC, "JSON body": the fields of the object by name, each name exactly. */
export const json: ValueSource = {
  source: 'json',
  missing: 'A value is required.',
  open(context) {
    const { body } = context;
    // `null` is a body without values, like no body at all.
    if (body.kind !== 'json' || body.value === null) return undefined;
    const { value: object } = body;
    if (!isJsonObject(object)) {
      context.at('json', '', '').failValue(object, 'JSON object');
      return undefined;
    }
    return slot => {
      const { name } = slot;
      // Own fields only: `constructor` and `__proto__` are names like any other.
      const value = Object.hasOwn(object, name) ? object[name] : undefined;
      return value === undefined ? undefined : readJson(slot, value, context.at('json', '', '').property(name));
    };
  },
};
