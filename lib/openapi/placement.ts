import { memberSchema, mustBeSent, schemaOfNames, schemaOfText, type Schemas } from '../binding/declaration/describe';
import { usuallyHasNoBody, type SourceProperty, type SourcesOfProperty } from '../binding/plan/plan';
import { isTextOnly, type Codec, type JsonSchema } from '../binding/types/codec';
import type { Source } from '../problems/problem';
import type { Operation } from './operations';

/** A kind of body. */
export type Kind = 'json' | 'form';

/** A place of a request in which a client sends a value, as the document describes it. */
export interface Place {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | Kind;
  readonly name: string;
  /** True if the value must be sent. */
  readonly required: boolean;
  readonly schema: JsonSchema;
  /** True if the value takes all names there, as `fromQuery` or `fromForm` of a union. */
  readonly isWhole?: boolean;
}

export const isBody = (place: Place): boolean => place.in === 'json' || place.in === 'form';

/** Makes the schemas of what one source reads. */
export type SchemasFrom = (source: Source) => Schemas;

/** Headers that OpenAPI describes elsewhere: as content types and as security (3.1, section 4.8.12.1). */
const ELSEWHERE = ['accept', 'content-type', 'authorization'];

const TEXT: JsonSchema = { type: 'string' };

/** Facts about an operation that decide where the values of its dto are sent. */
interface Facts {
  readonly operation: Operation;
  readonly takesForm: boolean;
  /** True if the fields are sent in the query: there is no body, or one property takes it. */
  readonly prefersQuery: boolean;
  readonly from: SchemasFrom;
}

/**
 * Decides where a client sends the values of an operation.
 * @returns of each value its places: one, or one for each kind of body, of which a client sends one.
 */
export function placesOf(operation: Operation, from: SchemasFrom): Place[][] {
  const { plan, options } = operation.endpoint ?? {};
  const whole = plan?.wholeBody?.property;
  const all = [...(plan?.sourcesOf ?? [])].flatMap(([property, sources]) => (property === whole ? [] : [sources]));
  const takesForm = options?.allowMultipart === true;
  const isWhole = plan?.wholeBody !== undefined || (takesForm && all.some(sources => sources.get('form')?.isRoot));
  const facts = { operation, takesForm, prefersQuery: usuallyHasNoBody(operation.method) || isWhole, from };
  // Those of the path that no property binds from are there, too.
  const inPath = operation.parameters.map(({ name }): Place[] => [{ name, in: 'path', required: true, schema: TEXT }]);
  return [...all.flatMap(sources => placesOfProperty(sources, facts)), ...inPath];
}

/** Decides where a client sends the value of one property: in the place that its declaration names first. */
function placesOfProperty(sources: SourcesOfProperty, facts: Facts): Place[][] {
  for (const source of ['form', 'query'] as const) {
    const root = sources.get(source);
    if (root?.isRoot) return placesOfRoot(source, root, facts.from(source)).map(place => [place]);
  }
  // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
  if (sources.get('claim')?.required === true || sources.has('permission')) return [];
  // The path always has a value, if it names the property, and that is read.
  const inPath = placesInPath(sources, facts);
  const outside = (['header', 'cookie'] as const).find(source => sources.has(source));
  if (outside) {
    const place = placeIn(outside, sources, facts.from);
    return place && !ELSEWHERE.includes(place.name.toLowerCase()) ? [[place], ...inPath] : inPath;
  }
  // The body must have it, even if the path has it, too. No form can stand for it.
  const json = sources.get('json')?.jsonRequired && placeIn('json', sources, facts.from);
  if (json) return [[{ ...json, required: true }], ...inPath];
  return inPath.length > 0 ? inPath : [placesInQueryOrBody(sources, facts)];
}

/** Takes apart the property that takes all names of a form or query; a union has no properties of its own. */
function placesOfRoot(source: 'form' | 'query', { property, codec, required }: SourceProperty, schemas: Schemas) {
  const schema = schemaOfNames(codec, schemas);
  const needed = (schema['required'] ?? []) as readonly string[];
  if (schema['properties'] === undefined) return [{ in: source, name: property, required, schema, isWhole: true }];
  return Object.entries(schema['properties'] as Record<string, JsonSchema>).map(([name, own]): Place => {
    const member = codec.kind === 'object' && codec.members.find(one => one.bindName === name);
    const inside = member ? textSchema(member, schemas) : own;
    return { in: source, name, required: required && needed.includes(name), schema: inside };
  });
}

function placesInPath(sources: SourcesOfProperty, { operation: { parameters }, from }: Facts): Place[][] {
  const property = sources.get('route');
  const parameter =
    parameters.find(({ key }) => key === property?.name) ??
    parameters.find(({ key }) => key?.toLowerCase() === property?.anyCase);
  const place = parameter && placeIn('route', sources, from);
  const schema = parameter?.isWildcard ? SEGMENTS : place?.schema;
  return parameter && place && schema ? [[{ in: 'path', name: parameter.name, required: true, schema }]] : [];
}

/** What a wildcard takes: no list of OpenAPI has slashes between its items. */
const SEGMENTS = { ...TEXT, description: 'One segment or more, with slashes between them, which are not encoded.' };

function placesInQueryOrBody(sources: SourcesOfProperty, { takesForm, prefersQuery, from }: Facts): Place[] {
  const kinds = (['json', 'form'] as const).filter(
    kind => isReadIn(kind, sources.get(kind)) && (kind === 'json' || takesForm),
  );
  // A schema that is not used would leave its names in the document, so each is made where it is used.
  const query = kinds.length === 0 || prefersQuery ? placeIn('query', sources, from) : undefined;
  return query ? [query] : kinds.flatMap(kind => placeIn(kind, sources, from) ?? []);
}

/** Describes the value of a property as one source reads it; undefined if the source does not. */
function placeIn(source: Exclude<Place['in'], 'path'> | 'route', sources: SourcesOfProperty, from: SchemasFrom) {
  const property = sources.get(source);
  if (!isReadIn(source, property)) return undefined;
  const required = mustBeSent(property);
  const schemas = from(source);
  const text = source === 'json' ? memberSchema(property, schemas) : textSchema(property, schemas);
  const schema = required && source !== 'json' ? notEmpty(text) : text;
  return { in: source === 'route' ? 'path' : source, name: property.name, required, schema } satisfies Place;
}

/** Returns true if a source can have a value of a property. JSON holds no text that only a value parser reads. */
const isReadIn = (source: Source, property: SourceProperty | undefined): property is SourceProperty =>
  property !== undefined && !(source === 'json' && isTextOnly(property.codec));

/** Describes the value of a member outside of JSON. */
function textSchema(member: Parameters<typeof memberSchema>[0], schemas: Schemas): JsonSchema {
  const codec = withoutNull(member.codec);
  const { default: value, ...schema } = memberSchema({ ...member, codec }, schemas);
  const own = schemaOfText(codec, schemas);
  const { description } = schema;
  // The JSON of a list or an object is not the text described here.
  const text = own && typeof value === 'object' ? undefined : (value ?? undefined);
  return { ...(own ?? schema), ...(description !== undefined && { description }), default: text };
}

/** Leaves out null, which text cannot express; inside JSON text it stays. */
function withoutNull(codec: Codec): Codec {
  const type = codec.notNull ?? codec;
  const item = type.kind === 'list' && type.item.kind === 'scalar' ? type.item.notNull : undefined;
  return item && type.kind === 'list' ? { ...type, item } : type;
}

/** Requires at least one item: outside of JSON, an empty array cannot be sent. */
function notEmpty(schema: JsonSchema): JsonSchema {
  const { minItems = 0, ...rest } = schema;
  if (schema['type'] !== 'array' || isStructured(schema)) return schema;
  return { ...rest, minItems: Math.max(1, minItems as number) };
}

/**
 * Leaves one place of each name: names of query parameters, headers and forms match in any case; in a path, `{Id}` and
 * `{id}` are two values. If several properties read it, the first describes it.
 */
export function oneOfEach(places: readonly Place[]): Place[] {
  const byKey = new Map<string, Place>();
  for (const place of places) {
    const key = `${place.in} ${/query|header|form/.test(place.in) ? place.name.toLowerCase() : place.name}`;
    const first = byKey.get(key);
    byKey.set(key, first ? { ...first, required: first.required || place.required } : place);
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
