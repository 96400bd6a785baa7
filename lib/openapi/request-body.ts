import type { EndpointDescription } from '../binding/bind-request';
import { mustBeSent } from '../binding/declaration/dto-schema';
import type { Plan } from '../binding/plan/plan';
import type { JsonSchema, Schemas } from '../binding/types/json-schema';
import { isStructured, type BodyValue, type Value } from './placement';

interface Content {
  readonly schema: JsonSchema;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** Describes the body of an endpoint's requests; undefined if it takes none. */
export function requestBodyOf(
  plan: Plan,
  { endpoint: { settings }, operation: { examples } }: EndpointDescription,
  values: readonly BodyValue[],
  schemas: Schemas,
): object | undefined {
  const contents: Record<string, Content> = {};
  const { wholeBody, content } = plan;
  if (wholeBody) contents['application/json'] = { schema: schemas.of(wholeBody.codec) };
  if (content) contents['text/plain'] = { schema: { type: 'string' } };
  if (fits(values, 'json')) contents['application/json'] = { schema: objectOf(values, 'json') };
  if (settings.allowMultipart && fits(values, 'form')) {
    contents['multipart/form-data'] = formOf(values);
    if (settings.allowUrlEncoded && !formFiles(values)) contents['application/x-www-form-urlencoded'] = formOf(values);
  }
  if (Object.keys(contents).length === 0) return undefined;
  const whole = wholeBody ?? content;
  const required = whole ? mustBeSent(whole) : values.some(({ json, form }) => (json ?? form)?.required);
  const withExamples = Object.entries(contents).map(([type, one]) => [type, { ...one, ...(examples && { examples }) }]);
  return { required, content: Object.fromEntries(withExamples) as object };
}

type Kind = keyof BodyValue;

/** Tells whether a body of a kind has a place for at least one value, and for all that must be sent. */
function fits(values: readonly BodyValue[], kind: Kind): boolean {
  return (
    values.some(value => value[kind]) &&
    values.every(({ json, form, [kind]: here }) => here ?? (json ?? form)?.required !== true)
  );
}

function objectOf(values: readonly BodyValue[], kind: Kind): JsonSchema {
  const here = valuesIn(values, kind);
  const required = here.filter(one => one.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** A form, in which objects are sent as JSON. */
function formOf(values: readonly BodyValue[]): Content {
  const structured = valuesIn(values, 'form').filter(({ schema }) => isStructured(schema));
  return {
    schema: objectOf(values, 'form'),
    ...(structured.length > 0 && {
      encoding: Object.fromEntries(structured.map(({ name }) => [name, { contentType: 'application/json' }])),
    }),
  };
}

function formFiles(values: readonly BodyValue[]): boolean {
  return valuesIn(values, 'form').some(({ schema }) => JSON.stringify(schema).includes('"format":"binary"'));
}

function valuesIn(values: readonly BodyValue[], kind: Kind): Value[] {
  return values.flatMap(({ [kind]: value }) => value ?? []);
}
