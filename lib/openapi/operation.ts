import { endpoints, type Endpoint } from '../binding/bind-request';
import { mustBeSent } from '../binding/declaration/describe';
import { hasFile, type JsonSchema } from '../binding/types/codec';
import { classNameOf, isSchema } from '../binding/types/property-type';
import { guards } from '../idempotency/idempotency';
import type { Components } from './components';
import { keyHeader } from './key-header';
import {
  isStructured,
  oneOfEach,
  placementOf,
  type BodyValue,
  type ParameterValue,
  type SchemasFrom,
  type Value,
} from './placement';
import type { Route } from './routes';
import type { Security } from './security';

/** A route that the document lists; `where` is its method and path. */
export type Operation = ReturnType<typeof operationOf>;

/** The requests of an operation, as OpenAPI has them (3.1, section 4.8.10). */
export type RequestObject = ReturnType<typeof requestOf>;

/** Finds the middlewares of a route: the first `idempotency()` guards it, and the handler gets the last dto. */
export function operationOf(route: Route) {
  const { method, template, handlers } = route;
  return {
    route,
    where: `${method.toUpperCase()} ${template.path}`,
    guard: handlers
      .flatMap(handle => guards.of(handle) ?? [])
      .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase())),
    endpoint: handlers.flatMap(handle => endpoints.of(handle) ?? []).at(-1),
  };
}

/** Describes the requests of one operation. */
export function requestOf({ route, guard, endpoint }: Operation, components: Components, security: Security) {
  const { limits, unknownNames } = endpoint?.options ?? {};
  const facts = { direction: 'request', isClosed: unknownNames === 'refuse' } as const;
  // The JSON body of a class has a name: endpoints with other limits share it.
  const from: SchemasFrom = source =>
    components.schemasFor({ ...facts, source }, source === 'json' ? undefined : limits);
  const { parameters, body } = placementOf(endpoint, route, from);
  // The dto may bind the header of the key, too.
  const key = guard?.headerName.toLowerCase();
  const others = parameters.filter(one => one.in !== 'header' || one.name.toLowerCase() !== key);
  const listed = others.map(parameterOf);
  if (guard) listed.push(keyHeader(guard, from('header')));
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    ...{ summary, description, tags, deprecated },
    parameters: listed.length > 0 ? listed : undefined,
    requestBody: endpoint && requestBodyOf(endpoint, body, from, components),
    security: security.of(endpoint),
  };
}

/**
 * Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). Objects have no style that clients agree
 * on, and several generators fail at `content`: such values are texts that hold JSON.
 */
function parameterOf({ name, in: where, required, schema: described, isExploded }: ParameterValue) {
  const { description, ...schema } = described as { readonly description?: string };
  const value = (style: object): object => ({ name, in: where, required, description, ...style });
  if (isExploded) return value({ style: 'form', explode: true, schema });
  if (isStructured(described))
    return value({ schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema } });
  if (![described['type']].flat().includes('array')) return value({ schema });
  // What counts anyway in a query, but a generator asks for it. In a header, another one cannot compile a list.
  return value(where === 'query' ? { style: 'form', explode: true, schema } : { schema: ITEMS });
}

const ITEMS = { type: 'string', description: 'The items, with commas between them.' };

type Kind = 'json' | 'form';

/** Describes the body of an endpoint's requests; undefined if it needs none. */
function requestBodyOf(
  { Dto, plan, options, operation: { examples } }: Endpoint,
  values: readonly BodyValue[],
  from: SchemasFrom,
  components: Components,
) {
  // Empty for `dto({ … })` itself.
  const name = isSchema(Dto) ? '' : classNameOf(Dto).replace(/^Dto$/, '');
  const { wholeBody, sourceProperties } = plan ?? {};
  const isWholeSent = wholeBody !== undefined && mustBeSent(wholeBody);
  const isNeeded = values.some(value => placedIn(value)?.required);
  const contents: Record<string, object> = {};
  // A body that is one value as a whole has a place for no other.
  if (wholeBody && !plan?.body.text && !isNeeded)
    contents['application/json'] = { schema: from('json').of(wholeBody.codec) };
  // A text has at most as many characters as bytes.
  if (plan?.body.text && !isNeeded)
    contents['text/plain'] = { schema: { type: 'string', maxLength: options.limits.bodyBytes } };
  const isClosed = options.unknownNames === 'refuse' && { additionalProperties: false };
  if (fits(values, 'json'))
    contents['application/json'] = { schema: components.named(name, { ...objectOf(values, 'json'), ...isClosed }) };
  // A form cannot hold the JSON that another property requires.
  const isForm = options.allowMultipart && fits(values, 'form') && !(isWholeSent && !plan?.body.text);
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
