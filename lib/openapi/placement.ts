import {
  memberSchema,
  mustBeSent,
  schemaOfNames,
  schemaOfText as textOf,
  type Schemas,
} from '../binding/declaration/describe';
import type { Endpoint } from '../binding/bind-request';
import { usuallyHasNoBody } from '../binding/plan/plan';
import type { SourceProperty, SourcesOfProperty } from '../binding/plan/source-properties';
import { isTextOnly, notNull, type Codec, type JsonSchema } from '../binding/types/codec';
import type { Source } from '../problems/problem';
import type { PathParameter } from './express-paths';
import type { Route } from './routes';

/** A value of a request, as the document describes it: its name, whether it must be sent, and its schema. */
export interface Value {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** A value outside of the body. */
export interface ParameterValue extends Value {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** True if the properties of the value are parameters, as for `fromQuery` of a union. */
  readonly isExploded?: boolean;
}

/** A value of the body; undefined where a body of that kind has no place for it. */
export interface BodyValue {
  readonly json: Value | undefined;
  readonly form: Value | undefined;
  /** True if the value is the whole body. */
  readonly isWhole?: boolean;
}

/** Headers that OpenAPI describes elsewhere: as content types and as security (3.1, section 4.8.12.1). */
const ELSEWHERE = ['accept', 'content-type', 'authorization'];

/** Facts about a route that decide where the values of a dto are sent. */
interface RouteOfDto {
  readonly pathParameters: readonly PathParameter[];
  readonly takesForm: boolean;
  /** True if the fields are sent in the query: there is no body, or one property takes it. */
  readonly prefersQuery: boolean;
  readonly from: SchemasFrom;
}

/** Decides where a client sends the values of a dto on one route. */
export function placementOf(endpoint: Endpoint | undefined, { method, template }: Route, from: SchemasFrom) {
  const { plan, options } = endpoint ?? {};
  const whole = plan?.wholeBody?.property;
  const all = [...(plan?.sourcesOf ?? [])].flatMap(([property, sources]) => (property === whole ? [] : [sources]));
  const takesForm = options?.allowMultipart === true;
  const isWhole = plan?.wholeBody !== undefined || (takesForm && all.some(sources => sources.get('form')?.isRoot));
  const prefersQuery = usuallyHasNoBody(method) || isWhole;
  const route: RouteOfDto = { pathParameters: template.parameters, takesForm, prefersQuery, from };
  const parameters: ParameterValue[] = [];
  const body: BodyValue[] = [];
  for (const sources of all) {
    const places = placesOf(sources, route);
    parameters.push(...places.filter(one => 'in' in one));
    body.push(...places.flatMap(one => ('in' in one ? [] : one)));
  }
  // Those of the path that no property binds from are there, too.
  for (const { name } of template.parameters) parameters.push({ name, in: 'path', required: true, schema: TEXT });
  return { parameters: merged(parameters), body };
}

const TEXT: JsonSchema = { type: 'string' };

/** Names of query parameters and of headers match in any case; in a path, `{Id}` and `{id}` are two values. */
const merged = (parameters: readonly ParameterValue[]): ParameterValue[] =>
  oneOfEach(parameters, one => `${one.in} ${/query|header/.test(one.in) ? one.name.toLowerCase() : one.name}`);

/** Decides where a client sends the value of one property: in the place that its declaration names first. */
function placesOf(sources: SourcesOfProperty, route: RouteOfDto): (ParameterValue | BodyValue)[] {
  for (const source of ['form', 'query'] as const) {
    const root = sources.get(source);
    if (root?.isRoot) return placesOfRoot(source, root, route);
  }
  // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
  if (sources.get('claim')?.required === true || sources.has('permission')) return [];
  // The path always has a value, if it names the property, and that is read.
  const inPath = placesInPath(sources, route);
  const outside = (['header', 'cookie'] as const).find(source => sources.has(source));
  if (outside) {
    const value = valueOf(sources.get(outside), outside, route.from);
    return value && !ELSEWHERE.includes(value.name.toLowerCase()) ? [{ ...value, in: outside }, ...inPath] : inPath;
  }
  const json = sources.get('json');
  // The body must have it, even if the path has it, too. No form can stand for it.
  const value = json?.jsonRequired ? valueOf(json, 'json', route.from) : undefined;
  if (value) return [{ json: { ...value, required: true }, form: undefined }, ...inPath];
  return inPath.length > 0 ? inPath : placesInQueryOrBody(sources, route);
}

/** Takes apart the property that takes all names of a form or query; a union has no properties of its own. */
function placesOfRoot(source: Source, root: SourceProperty, { from }: RouteOfDto): (ParameterValue | BodyValue)[] {
  const { property: name, codec, required } = root;
  const values = namesOf(codec, required, from(source));
  const whole: Value = { name, required, schema: schemaOfNames(codec, from(source)) };
  if (source === 'query')
    return values?.map(one => ({ ...one, in: source })) ?? [{ ...whole, in: source, isExploded: true }];
  return values?.map(form => ({ json: undefined, form })) ?? [{ json: undefined, form: whole, isWhole: true }];
}

function placesInPath(sources: SourcesOfProperty, { pathParameters, from }: RouteOfDto): ParameterValue[] {
  const property = sources.get('route');
  const parameter =
    pathParameters.find(({ key }) => key === property?.name) ??
    pathParameters.find(({ key }) => key?.toLowerCase() === property?.anyCase);
  const value = parameter && valueOf(property, 'route', from);
  const schema = parameter?.isWildcard ? SEGMENTS : value?.schema;
  return parameter && schema && value ? [{ name: parameter.name, in: 'path', required: true, schema }] : [];
}

/** What a wildcard takes: no list of OpenAPI has slashes between its items. */
const SEGMENTS = { ...TEXT, description: 'One segment or more, with slashes between them, which are not encoded.' };

function placesInQueryOrBody(sources: SourcesOfProperty, { takesForm, prefersQuery, from }: RouteOfDto) {
  const json = isReadIn('json', sources.get('json'));
  const form = isReadIn('form', sources.get('form')) && takesForm;
  // A schema that is not used would leave its names in the document, so each is made where it is used.
  const query = !(json || form) || prefersQuery ? valueOf(sources.get('query'), 'query', from) : undefined;
  if (query) return [{ ...query, in: 'query' as const }];
  const inForm = form ? valueOf(sources.get('form'), 'form', from) : undefined;
  return json || form ? [{ json: valueOf(sources.get('json'), 'json', from), form: inForm }] : [];
}

/** Lists the names of an object that binds all names of a form or query; undefined if they are not known. */
function namesOf(codec: Codec, isRequired: boolean, schemas: Schemas): Value[] | undefined {
  const type = notNull(codec);
  const { properties, required = [] } = schemaOfNames(codec, schemas);
  if (properties === undefined) return undefined;
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => {
    const member = type.kind === 'object' && type.fields.find(one => one.bindName === name)?.codec;
    return {
      name,
      required: isRequired && (required as readonly string[]).includes(name),
      schema: member ? schemaOfText(member, schema, schemas) : withoutNull(schema),
    };
  });
}

/** Makes the schemas of what one source reads. */
export type SchemasFrom = (source: Source) => Schemas;

/** Describes the value of a property as one source reads it; undefined if the source does not. */
export function valueOf(property: SourceProperty | undefined, source: Source, from: SchemasFrom): Value | undefined {
  if (!isReadIn(source, property)) return undefined;
  const schemas = from(source);
  const schema = memberSchema(property, schemas);
  const required = mustBeSent(property);
  if (source === 'json') return { name: property.name, required, schema };
  const text = schemaOfText(property.codec, schema, schemas);
  return { name: property.name, required, schema: required ? notEmpty(text) : text };
}

/**
 * Describes a value outside of JSON.
 * @param schema what describes it in JSON.
 */
export function schemaOfText(codec: Codec, schema: JsonSchema, schemas: Schemas): JsonSchema {
  const own = textOf(codec, schemas);
  if (!own) return withoutNull(schema);
  const { description, default: value } = schema;
  // The JSON of a list or an object is not the text described here.
  const text = typeof value === 'object' ? undefined : value;
  return { ...own, ...(description !== undefined && { description }), default: text };
}

/** Requires at least one item: outside of JSON, an empty array cannot be sent. */
function notEmpty(schema: JsonSchema): JsonSchema {
  const { minItems = 0, ...rest } = schema;
  if (schema['type'] !== 'array' || isStructured(schema)) return schema;
  return { ...rest, minItems: Math.max(1, minItems as number) };
}

/** Returns true if a source can have a value of a property. JSON holds no text that only a value parser reads. */
export const isReadIn = (source: Source, property: SourceProperty | undefined): property is SourceProperty =>
  property !== undefined && !(source === 'json' && isTextOnly(property.codec));

/**
 * Leaves one value of each name, of which a client sends one. If several properties read it, the first describes it.
 * @param keyOf makes one key of the names that are the same.
 */
export function oneOfEach<V extends Value>(values: readonly V[], keyOf: (value: V) => string): V[] {
  const byKey = new Map<string, V>();
  for (const value of values) {
    const first = byKey.get(keyOf(value));
    byKey.set(keyOf(value), first ? { ...first, required: first.required || value.required } : value);
  }
  return [...byKey.values()];
}

/** Returns true if a value is an object, or a list of objects or lists: outside of JSON it is sent as JSON text. */
export function isStructured({ type, items, $ref, anyOf, oneOf, allOf }: JsonSchema): boolean {
  const types = [type].flat();
  const item = (items ?? {}) as JsonSchema;
  if (types.includes('array')) return [item['type']].flat().includes('array') || isStructured(item);
  const parts = [anyOf, oneOf, allOf].flatMap(one => (Array.isArray(one) ? (one as JsonSchema[]) : []));
  return $ref !== undefined || types.includes('object') || parts.some(isStructured);
}

/** Removes null, which text cannot express; inside JSON text it stays. */
export function withoutNull(given: JsonSchema): JsonSchema {
  const { default: value, ...others } = given;
  const schema = value === null ? others : given;
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: members, ...rest } = schema;
    if (!Array.isArray(members)) continue;
    const texts = (members as JsonSchema[]).filter(one => one['type'] !== 'null').map(withoutNull);
    return texts.length === 1 ? { ...rest, ...texts[0] } : { ...rest, [keyword]: texts };
  }
  const { type, enum: values, items } = schema;
  const types = [type].flat().filter(one => one !== 'null');
  return {
    ...schema,
    type: types.length > 1 ? types : types[0],
    enum: Array.isArray(values) ? values.filter(one => one !== null) : undefined,
    items: items === undefined || isStructured(schema) ? items : withoutNull(items as JsonSchema),
  };
}
