import { ignoreRejection, isPromise } from '../basics/awaitable';
import type { Endpoint } from '../binding/bind-request';
import { CodecTable } from '../binding/declaration/codec-table';
import { mustBeSent, type Schemas } from '../binding/declaration/describe';
import { hasFile, type JsonSchema } from '../binding/types/codec';
import { assertType, classNameOf, isSchema } from '../binding/types/property-type';
import type { ResolvedOptions } from '../idempotency/options/resolved-options';
import { plainJson, type Components } from './components';
import type { Operation } from './operations';
import { isBody, isStructured, oneOfEach, placesOf, type Kind, type Place, type SchemasFrom } from './placement';
import type { Security } from './security';

/** The requests of an operation, as OpenAPI has them (3.1, section 4.8.10). */
export type RequestObject = ReturnType<typeof requestOf>;

/** Describes the requests of one operation. */
export function requestOf(operation: Operation, components: Components, security: Security) {
  const { guard, endpoint } = operation;
  const facts = { direction: 'request', isClosed: endpoint?.options.unknownNames === 'refuse' } as const;
  const from: SchemasFrom = source => components.schemasFor({ ...facts, source });
  const values = placesOf(operation, from);
  const parameters = oneOfEach(values.flat().filter(place => !isBody(place)));
  // The dto may bind the header of the key, too.
  const key = guard?.headerName.toLowerCase();
  const others = parameters.filter(one => one.in !== 'header' || one.name.toLowerCase() !== key);
  const listed = [...others.map(parameterOf), ...(guard ? [keyHeader(guard, from('header'))] : [])];
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    ...{ summary, description, tags, deprecated },
    parameters: listed.length > 0 ? listed : undefined,
    requestBody: endpoint && requestBodyOf(endpoint, values, from, components),
    security: security.of(endpoint),
  };
}

/** Describes the header of the key. */
function keyHeader(guard: ResolvedOptions, schemas: Schemas): object {
  const made = guard.swaggerExampleGenerator?.();
  if (isPromise(made)) {
    ignoreRejection(made);
    throw new TypeError('idempotency: swaggerExampleGenerator returned a promise. Return the example itself');
  }
  const example = made === undefined ? undefined : plainJson(made);
  const described = schemaOfKey(guard, example, schemas);
  const { type, format = 'uuid' } = described;
  const { keyPattern } = guard;
  const takesUuids = keyPattern === undefined && type === 'string' && format === 'uuid';
  // JSON Schema has no flags.
  const pattern =
    type === 'string' && /^u?$/.test(keyPattern?.flags ?? '')
      ? { pattern: keyPattern?.source }
      : { description: `It must match the JavaScript regular expression ${String(keyPattern)}.` };
  return {
    name: guard.headerName,
    in: 'header',
    required: guard.whenKeyMissing === 'reject',
    description: descriptionOfKey(guard),
    // Tells the page of apiDocs() which header the key has, if it can fill that, and which one marks a replay.
    'x-idempotency-key': { takesUuids, replayedHeader: guard.replayedHeader },
    schema: { ...described, ...(keyPattern && pattern) },
    example,
  };
}

/** Describes the values of a key: as its type says, else by the shape of the example, else as text. */
function schemaOfKey({ swaggerHeaderType: type }: ResolvedOptions, example: unknown, schemas: Schemas): JsonSchema {
  if (type !== undefined) {
    assertType(type);
    return schemas.of(new CodecTable({}).complete(type));
  }
  if (example !== undefined && typeof example !== 'string')
    return { type: Array.isArray(example) ? 'array' : Number.isInteger(example) ? 'integer' : typeof example };
  const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(example ?? '');
  return { type: 'string', ...(isUuid ? { format: 'uuid' } : { minLength: 1 }) };
}

function descriptionOfKey({ swaggerHeaderDescription, cacheDuration, whenKeyReused }: ResolvedOptions): string {
  const another = whenKeyReused === 'reject' ? 'is refused with 422' : 'runs';
  const seconds = cacheDuration / 1_000;
  return (
    swaggerHeaderDescription ??
    "A key of the client's choice, new for each operation and the same for its retries. A retry, which is the same " +
      `request with the same key, gets the stored response for ${seconds} seconds. Another request with ` +
      `this key ${another}.`
  );
}

/**
 * Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). Objects have no style that clients agree
 * on, and several generators fail at `content`: such values are texts that hold JSON.
 */
function parameterOf({ name, in: where, required, schema: described, isWhole }: Place) {
  const { description, ...schema } = described as { readonly description?: string };
  const value = (style: object): object => ({ name, in: where, required, description, ...style });
  if (isWhole) return value({ style: 'form', explode: true, schema });
  if (isStructured(described))
    return value({ schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema } });
  if (![described['type']].flat().includes('array')) return value({ schema });
  // What counts anyway in a query, but a generator asks for it. In a header, another one cannot compile a list.
  return value(where === 'query' ? { style: 'form', explode: true, schema } : { schema: ITEMS });
}

const ITEMS = { type: 'string', description: 'The items, with commas between them.' };

/** Describes the body of an endpoint's requests; undefined if it needs none. */
function requestBodyOf(
  { Dto, plan, options, operation: { examples } }: Endpoint,
  all: Values,
  from: SchemasFrom,
  components: Components,
) {
  const values = all.filter(places => places.some(isBody));
  // Empty for `dto({ … })` itself.
  const name = isSchema(Dto) ? '' : classNameOf(Dto).replace(/^Dto$/, '');
  const { wholeBody, sourceProperties } = plan ?? {};
  const isWholeSent = wholeBody !== undefined && mustBeSent(wholeBody);
  const isNeeded = values.some(([first]) => first?.required);
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
  if (options.allowMultipart && fits(values, 'form') && !(isWholeSent && !plan?.body.text)) {
    const schema = components.named(name && `${name}Form`, objectOf(values, 'form'));
    const form = { schema, encoding: encodingOf(values) };
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

type Values = readonly (readonly Place[])[];

const placesIn = (values: Values, kind: Kind): Place[] => oneOfEach(values.flat().filter(one => one.in === kind));

/** Returns true if a body of a kind has a place for at least one value, and for all that must be sent. */
const fits = (values: Values, kind: Kind): boolean =>
  placesIn(values, kind).length > 0 &&
  values.every(places => places.some(one => one.in === kind) || places[0]?.required !== true);

function objectOf(values: Values, kind: Kind): JsonSchema {
  const here = placesIn(values, kind);
  const required = here.filter(one => one.required).map(({ name }) => name);
  return (
    here.find(({ isWhole }) => isWhole)?.schema ?? {
      type: 'object',
      properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
      required: required.length > 0 ? required : undefined,
    }
  );
}

/** Says that objects in a form are sent as JSON. */
function encodingOf(values: Values): object | undefined {
  const structured = placesIn(values, 'form').filter(({ schema, isWhole }) => !isWhole && isStructured(schema));
  const encoding = structured.map(({ name }) => [name, { contentType: 'application/json' }] as const);
  return encoding.length > 0 ? Object.fromEntries(encoding) : undefined;
}
