import type { ValueSource } from '../input/binder-context';
import { isJsonObject } from '../reading/json-text';
import { INVALID, Location } from '../reading/location';
import { takesNull } from '../types/codec';
import { readField, readOptionalJson, refuseOtherNames } from '../types/read-json';
import { claim, permission } from './caller';
import { cookie, header } from './headers';
import { form, query, route } from './names';

/** The fields of a JSON object, or the whole JSON body; names are case-sensitive. */
const json: ValueSource = {
  name: 'json',
  read({ body, noted }, properties, put) {
    // A body `null` has no values, like no body at all, unless the type accepts null.
    const sent = body?.kind === 'json' ? body.value : undefined;
    const at = Location.of(noted, 'json', '');
    const [whole] = properties;
    if (whole?.spec.kind === 'fromBody') {
      const isNothing = sent === undefined || (sent === null && !takesNull(whole.codec) && !whole.refusesNull);
      if (!isNothing) put(whole, readOptionalJson(whole, sent, at));
      return;
    }
    const fields = sent ?? {};
    if (isJsonObject(fields)) {
      for (const property of properties) put(property, readField(property, fields, at));
      if (noted.refusesUnknown) refuseOtherNames(properties, fields, at);
    } else {
      at.failValue(fields, 'JSON object');
      // It has been reported; do not report each of its fields as missing, too.
      for (const property of properties) put(property, INVALID);
    }
  },
};

/** The text of the body. */
const text: ValueSource = {
  name: 'body',
  read({ body }, properties, put) {
    for (const property of properties) if (body?.kind === 'text') put(property, body.text);
  },
};

/** The sources in binding order: a later source overwrites values of an earlier one. */
export const sourcesInOrder: readonly ValueSource[] = [
  text,
  json,
  form,
  route,
  query,
  claim,
  header,
  cookie,
  permission,
];
