import type { ValueSource } from '../input/binder-context';
import { isEmptyWithoutBody } from '../plan/plan';
import { isJsonObject } from '../reading/json-text';
import { INVALID } from '../reading/location';
import { takesNull } from '../types/codec';
import { emptyList, readField, readOptionalJson, refuseOtherNames } from '../types/read-json';
import { claim, permission } from './caller';
import { cookie, header } from './headers';
import { form, query, route } from './names';

/** The fields of a JSON object, or the whole JSON body; names are case-sensitive. */
const json: ValueSource = {
  name: 'json',
  read(context, members, values) {
    const { body, req } = context;
    const at = context.locationOf('json', '');
    // A body `null` has no values, like no body at all, unless the type accepts null.
    const sent = body?.kind === 'json' ? body.value : undefined;
    const [whole] = members;
    if (whole?.spec.kind === 'fromBody') {
      if (sent === undefined) {
        if (whole.required && isEmptyWithoutBody(whole, req.method)) values[whole.index] = emptyList(whole.codec, at);
      } else if (sent !== null || takesNull(whole.codec) || whole.refusesNull)
        context.put(values, whole, readOptionalJson(whole, sent, at));
      return;
    }
    const fields = sent ?? {};
    if (isJsonObject(fields)) {
      for (const member of members) context.put(values, member, readField(member, fields, at));
      if (at.failures.refusesUnknown) refuseOtherNames(members, fields, at);
    } else {
      at.failValue(fields, 'JSON object');
      // It has been reported; do not report each of its fields as missing, too.
      for (const { index } of members) values[index] = INVALID;
    }
  },
};

/** The text of the body. */
const text: ValueSource = {
  name: 'body',
  read({ body }, members, values) {
    for (const { index } of members) if (body?.kind === 'text') values[index] = body.text;
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
