import { mustBeSent } from '../binding/declaration/describe';
import type { Endpoint } from '../binding/bind-request';
import { hasFile, type JsonSchema } from '../binding/types/codec';
import { classNameOf, isSchema } from '../binding/types/property-type';
import type { Components } from './components';
import type { BodyValue } from './placement';
import { isStructured, oneOfEach, type SchemasFrom, type Value } from './values';

type Kind = 'json' | 'form';

/** Returns the name of the class whose properties are sent; empty without one, as for `dto({ … })` itself. */
export const nameOf = ({ Dto }: Pick<Endpoint, 'Dto'>): string =>
  isSchema(Dto) ? '' : classNameOf(Dto).replace(/^Dto$/, '');

/** Describes the body of an endpoint's requests; undefined if it needs none. */
export function requestBodyOf(
  { Dto, plan, options, operation: { examples } }: Endpoint,
  values: readonly BodyValue[],
  from: SchemasFrom,
  components: Components,
) {
  const name = nameOf({ Dto });
  const { wholeBody, sourceProperties } = plan ?? {};
  const isWholeSent = wholeBody !== undefined && mustBeSent(wholeBody.member);
  const isNeeded = values.some(value => placedIn(value)?.required);
  const contents: Record<string, object> = {};
  // A body that is one value as a whole has a place for no other.
  if (wholeBody?.kind === 'json' && !isNeeded)
    contents['application/json'] = { schema: from('json').of(wholeBody.member.codec) };
  // A text has at most as many characters as bytes.
  if (wholeBody?.kind === 'text' && !isNeeded)
    contents['text/plain'] = { schema: { type: 'string', maxLength: options.limits.bodyBytes } };
  const isClosed = options.unknownNames === 'refuse' && { additionalProperties: false };
  if (fits(values, 'json'))
    contents['application/json'] = { schema: components.named(name, { ...objectOf(values, 'json'), ...isClosed }) };
  // A form cannot hold the JSON that another property requires.
  const isForm = options.allowMultipart && fits(values, 'form') && !(wholeBody?.kind === 'json' && isWholeSent);
  if (isForm) {
    const form = formOf(values, name, components);
    contents['multipart/form-data'] = form;
    if (options.allowUrlEncoded && !sourceProperties?.get('form')?.some(({ codec }) => hasFile(codec)))
      contents['application/x-www-form-urlencoded'] = form;
  }
  if (Object.keys(contents).length === 0) return undefined;
  return {
    required: isWholeSent || isNeeded,
    content: Object.fromEntries(Object.entries(contents).map(([type, one]) => [type, { ...one, examples }])),
  };
}

/** Returns the value in the first kind of body that has a place for it. */
const placedIn = ({ json, form }: BodyValue): Value | undefined => json ?? form;

/** Returns true if a body of a kind has a place for at least one value, and for all that must be sent. */
const fits = (values: readonly BodyValue[], kind: Kind): boolean =>
  values.some(value => value[kind]) && values.every(value => value[kind] ?? placedIn(value)?.required !== true);

function objectOf(values: readonly BodyValue[], kind: Kind): JsonSchema {
  const whole = values.find(({ isWhole }) => isWhole)?.[kind];
  if (whole) return whole.schema;
  const here = valuesIn(values, kind);
  const required = here.filter(one => one.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    required: required.length > 0 ? required : undefined,
  };
}

/** Describes a form, in which objects are sent as JSON. */
function formOf(values: readonly BodyValue[], name: string, components: Components): object {
  const isWhole = values.some(value => value.isWhole);
  const structured = isWhole ? [] : valuesIn(values, 'form').filter(({ schema }) => isStructured(schema));
  const encoding = structured.map(({ name }) => [name, { contentType: 'application/json' }] as const);
  return {
    schema: components.named(name && `${name}Form`, objectOf(values, 'form')),
    encoding: encoding.length > 0 ? Object.fromEntries(encoding) : undefined,
  };
}

/** Returns the values of a kind of body, one for each name; names of a form are the same in any case. */
const valuesIn = (values: readonly BodyValue[], kind: Kind): Value[] =>
  oneOfEach(
    values.flatMap(value => value[kind] ?? []),
    ({ name }) => (kind === 'form' ? name.toLowerCase() : name),
  );
