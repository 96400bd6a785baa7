import type { Endpoint } from '../../binding/endpoint';
import { mustBeSent } from '../../binding/declaration/describe';
import { acceptedTypes } from '../../binding/input/incoming';
import { isEmptyWithoutBody } from '../../binding/plan/lookup';
import type { Plan } from '../../binding/plan/plan';
import { hasFile } from '../../binding/types/codec';
import type { JsonSchema } from '../../binding/types/json-schema';
import { bothSchemas, bothTexts } from '../schemas/both';
import { isStructured } from '../schemas/value-types';
import type { BodyValue, SchemasFrom } from '../values/placement';
import { both, type Value } from '../values/values';
import { bodyExamples } from './body-examples';

/** The body in one media type. */
export interface Content {
  readonly schema: JsonSchema;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
  readonly examples?: object;
}

/** The bodies that one endpoint takes. */
export interface EndpointBody {
  readonly required: boolean;
  /** By media type; empty if the endpoint needs no body. */
  readonly contents: Readonly<Record<string, Content>>;
  /** The names of the first items of lists whose values are sent one by one: `pages[0].picture`. */
  readonly numbered: readonly string[];
  /** Media types that are not refused with 415; undefined for all. */
  readonly accepted: readonly string[] | undefined;
}

/** Describes the body of an endpoint's requests. */
export function bodyOf(
  plan: Plan,
  { options, operation: { examples } }: Endpoint,
  method: string,
  values: readonly BodyValue[],
  schemasFrom: SchemasFrom,
): EndpointBody {
  const contents: Record<string, Content> = {};
  const { wholeBody, body: use } = plan;
  const isWholeSent = wholeBody !== undefined && mustBeSent(wholeBody.member);
  if (wholeBody?.kind === 'json' && fits(values, 'whole'))
    contents['application/json'] = { schema: schemasFrom('json').of(wholeBody.member.codec) };
  // A text has at most as many characters as bytes.
  if (wholeBody?.kind === 'text' && fits(values, 'whole'))
    contents['text/plain'] = { schema: { type: 'string', maxLength: options.limits.bodyBytes } };
  if (fits(values, 'json')) contents['application/json'] = { schema: objectOf(values, 'json') };
  // A form cannot hold the JSON that another property requires.
  if (options.allowMultipart && fits(values, 'form') && !(wholeBody?.kind === 'json' && isWholeSent)) {
    contents['multipart/form-data'] = formOf(values);
    if (options.allowUrlEncoded && !planHasFile(plan)) contents['application/x-www-form-urlencoded'] = formOf(values);
  }
  const isWholeRequired = isWholeSent && !isEmptyWithoutBody(wholeBody.member, method);
  const required = isWholeRequired || values.some(value => placedIn(value)?.required);
  const shown = examples && { examples: bodyExamples(examples) };
  const withExamples = Object.entries(contents).map(([type, one]) => [type, { ...one, ...shown }]);
  return {
    required: required && withExamples.length > 0,
    contents: Object.fromEntries(withExamples) as Record<string, Content>,
    numbered: values.flatMap(({ form }) =>
      form?.pattern !== undefined && form.name.includes('[0]') ? [form.name] : [],
    ),
    // Plain text is the text of a body of any type. A dto that uses no body does not look at it.
    accepted: use.text || !(use.json || use.form) ? undefined : acceptedTypes({ use, options }),
  };
}

type Kind = 'json' | 'form';

/** Returns the value in the first kind of body that has a place for it. */
const placedIn = ({ json, form }: BodyValue): Value | undefined => json ?? form;

/**
 * Returns true if a body of a kind has a place for at least one value, and for all that must be sent; a body that is
 * one value as a whole has a place for no other.
 */
function fits(values: readonly BodyValue[], kind: Kind | 'whole'): boolean {
  const isPlaced = (value: BodyValue): boolean => kind !== 'whole' && value[kind] !== undefined;
  return (
    (kind === 'whole' || values.some(isPlaced)) &&
    values.every(value => isPlaced(value) || placedIn(value)?.required !== true)
  );
}

function objectOf(values: readonly BodyValue[], kind: Kind): JsonSchema {
  const [whole] = values.filter(({ isWhole }) => isWhole);
  if (whole?.[kind]) return whole[kind].schema;
  const here = valuesIn(values, kind);
  const named = here.filter(({ pattern }) => pattern === undefined);
  const numbered = here.flatMap(({ pattern, schema }) => (pattern === undefined ? [] : [[pattern, schema] as const]));
  const required = here.filter(one => one.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
    ...(numbered.length > 0 && { patternProperties: Object.fromEntries(numbered) }),
    ...(required.length > 0 && { required }),
  };
}

/** Describes a form, in which objects are sent as JSON. */
function formOf(values: readonly BodyValue[]): Content {
  const structured = values.some(({ isWhole }) => isWhole)
    ? []
    : valuesIn(values, 'form').filter(({ schema, pattern }) => pattern === undefined && isStructured(schema));
  return {
    schema: objectOf(values, 'form'),
    ...(structured.length > 0 && {
      encoding: Object.fromEntries(structured.map(({ name }) => [name, { contentType: 'application/json' }])),
    }),
  };
}

function planHasFile({ sourceProperties }: Plan): boolean {
  return (sourceProperties.get('form') ?? []).some(({ codec }) => hasFile(codec));
}

/** Returns the values of a kind of body, one for each name; names of a form are the same in any case. */
function valuesIn(values: readonly BodyValue[], kind: Kind): Value[] {
  const byName = new Map<string, Value>();
  for (const { [kind]: value } of values) {
    if (!value) continue;
    const key = kind === 'form' ? value.name.toLowerCase() : value.name;
    const other = byName.get(key);
    byName.set(key, other ? both(other, value, kind === 'form' ? bothTexts : bothSchemas) : value);
  }
  return [...byName.values()];
}
