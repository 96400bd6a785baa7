import { schemaOfNames, type Schemas } from '../binding/declaration/describe';
import type { Endpoint } from '../binding/bind-request';
import { usuallyHasNoBody } from '../binding/plan/plan';
import type { SourceProperty, SourcesOfProperty } from '../binding/plan/source-properties';
import { hasFile, notNull, takesFiles, type Codec, type JsonSchema } from '../binding/types/codec';
import type { Source } from '../problems/problem';
import type { PathParameter } from './express-paths';
import type { Route } from './routes';
import { isReadIn, oneOfEach, schemaOfText, valueOf, withoutNull, type SchemasFrom, type Value } from './values';

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
  const whole = plan?.wholeBody?.member.property;
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
  const values = namesOf(codec, '', required, from(source));
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

/**
 * Takes the object apart that binds all names of a form or query; undefined if its names are not known. Objects with
 * files cannot be sent as JSON, so their properties are sent under names of their own: `cover.picture`, and
 * `pages[0].picture` for those of a list.
 * @param name of the object; empty for that of all names.
 * @param around the types that are being taken apart: a type may contain itself.
 */
function namesOf(
  codec: Codec,
  name: string,
  required: boolean,
  schemas: Schemas,
  around: readonly Codec[] = [],
): Value[] | undefined {
  const type = notNull(codec);
  // OpenAPI cannot list names of any depth.
  if (around.includes(type)) return [];
  const within = [...around, type];
  // Which items there are is not known, so no name is required.
  if (type.kind === 'list') return namesOf(type.item, `${name}[0]`, false, schemas, within);
  const { properties, required: names = [] } = schemaOfNames(codec, schemas);
  if (properties === undefined) return undefined;
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([property, schema]): Value[] => {
    const own = name === '' ? property : `${name}.${property}`;
    const isRequired = required && (names as readonly string[]).includes(property);
    const member = type.kind === 'object' ? type.fields.find(one => one.bindName === property)?.codec : undefined;
    const holdsFiles = member && !takesFiles(member) && hasFile(member);
    const below = holdsFiles ? namesOf(member, own, isRequired, schemas, within) : undefined;
    const text = member ? schemaOfText(member, schema, schemas) : withoutNull(schema);
    return below ?? [{ name: own, required: isRequired, schema: text }];
  });
}
