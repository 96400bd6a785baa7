import { isJsonObject } from '../reading/json-text';
import type { ValueSource } from './request-input';

/** The fields of a JSON object; names are case-sensitive. */
export const json: ValueSource = {
  name: 'json',
  read(input, _sourceProperties, found) {
    const { body, plan } = input;
    // A body `null` has no values, like no body at all.
    if (!plan || body.kind !== 'json' || body.value === null) return;
    const location = input.locationOf('json', '');
    if (isJsonObject(body.value)) plan.read(found, body.value, location);
    else location.failValue(body.value, 'JSON object');
  },
};
