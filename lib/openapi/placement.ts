import { mustBeSent, schemaOfNames } from '../binding/declaration/describe';
import type { Endpoint } from '../binding/bind-request';
import { usuallyHasNoBody } from '../binding/plan/plan';
import type { SourceProperty, SourcesOfProperty } from '../binding/plan/source-properties';
import { hasFile, notNull, takesFiles, type Codec } from '../binding/types/codec';
import type { JsonSchema, Schemas } from '../binding/types/json-schema';
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
  /** Returns true if a property is sent in the query rather than in a body: there is none, or it is of another kind. */
  readonly prefersQuery: (isIn: Readonly<Record<'json' | 'form', boolean>>) => boolean;
  readonly from: SchemasFrom;
}

type Sources = SourcesOfProperty;

/** Decides where a client sends the values of a dto on one route. */
export function placementOf(endpoint: Endpoint | undefined, { method, template }: Route, from: SchemasFrom) {
  const { plan, options } = endpoint ?? {};
  const whole = plan?.wholeBody?.member.property;
  const all = [...(plan?.sourcesOf ?? [])].flatMap(([property, sources]) => (property === whole ? [] : [sources]));
  const takesForm = options?.allowMultipart === true;
  const [needsForm, needsJson] = [takesForm && all.some(isSentInForm), all.some(isSentInJson)];
  // A property that takes the whole body leaves the query to the others.
  const hasNoFields = usuallyHasNoBody(method) || plan?.wholeBody !== undefined;
  const route: RouteOfDto = {
    pathParameters: template.parameters,
    takesForm,
    prefersQuery: isIn => hasNoFields || (needsForm && !isIn.form) || (needsJson && !isIn.json),
    from,
  };
  const parameters: ParameterValue[] = [];
  const body: BodyValue[] = [];
  // Query parameters that replace a value of the path or body have no entry of their own.
  const replacing: string[] = [];
  for (const sources of all) {
    const places = [...placesOf(sources, route)];
    const outside = places.filter(one => 'in' in one);
    parameters.push(...outside);
    body.push(...places.flatMap(one => ('in' in one ? [] : one)));
    const query = sources.get('query');
    if (isReadIn('query', query) && !query.isRoot && outside.every(one => one.in === 'path'))
      replacing.push(query.name);
  }
  // Those of the path that no property binds from are there, too.
  for (const { name } of template.parameters) parameters.push({ name, in: 'path', required: true, schema: TEXT });
  return { parameters: merged(parameters), body, replacing };
}

const TEXT: JsonSchema = { type: 'string' };

/** Names of query parameters and of headers match in any case; in a path, `{Id}` and `{id}` are two values. */
const merged = (parameters: readonly ParameterValue[]): ParameterValue[] =>
  oneOfEach(parameters, one => `${one.in} ${/query|header/.test(one.in) ? one.name.toLowerCase() : one.name}`);

/** Returns true for a property that takes the whole form, or that must be sent and no other body can hold. */
function isSentInForm(sources: Sources): boolean {
  const form = sources.get('form');
  return isReadIn('form', form) && (form.isRoot || (mustBeSent(form) && !isReadIn('json', sources.get('json'))));
}

/** Returns true for a property that the JSON body must have, or that must be sent and no other source has. */
function isSentInJson(sources: Sources): boolean {
  const json = sources.get('json');
  return isReadIn('json', json) && (json.jsonRequired || (mustBeSent(json) && sources.size === 1));
}

/** Decides where a client sends the value of one property: in the place that its declaration names first. */
function* placesOf(sources: Sources, route: RouteOfDto): Generator<ParameterValue | BodyValue, void> {
  for (const source of ['form', 'query'] as const) {
    const root = sources.get(source);
    if (root?.isRoot) return yield* placesOfRoot(source, root, route);
  }
  const outside = (['header', 'cookie'] as const).find(source => sources.has(source));
  if (outside) {
    const value = valueOf(sources.get(outside), outside, route.from);
    if (value && !ELSEWHERE.includes(value.name.toLowerCase())) yield { ...value, in: outside };
    // The path always has a value, if it names the property, and that is read.
    return yield* placesInPath(sources, route);
  }
  // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
  if (sources.get('claim')?.required === true || sources.has('permission')) return;
  const json = sources.get('json');
  if (json?.jsonRequired) {
    // The body must have it, even if the path has it, too. No form can stand for it.
    const value = valueOf(json, 'json', route.from);
    if (value) yield { json: { ...value, required: true }, form: undefined };
    return yield* placesInPath(sources, route);
  }
  const inPath = [...placesInPath(sources, route)];
  yield* inPath.length > 0 ? inPath : placesInQueryOrBody(sources, route);
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

function* placesInPath(sources: Sources, { pathParameters, from }: RouteOfDto): Generator<ParameterValue, void> {
  const property = sources.get('route');
  const parameter =
    pathParameters.find(({ key }) => key === property?.name) ??
    pathParameters.find(({ key }) => key?.toLowerCase() === property?.anyCase);
  const value = parameter && valueOf(property, 'route', from);
  if (!value) return;
  const schema = parameter.isWildcard ? ofSegments(value.schema) : value.schema;
  yield { name: parameter.name, in: 'path', required: true, schema };
}

/** Describes a list in a wildcard: OpenAPI can write no list that has slashes between its items. */
const ofSegments = (schema: JsonSchema): JsonSchema =>
  [schema['type']].flat().includes('array')
    ? { ...TEXT, description: 'The items, with slashes between them, which are not encoded.' }
    : schema;

function* placesInQueryOrBody(
  sources: Sources,
  { takesForm, prefersQuery, from }: RouteOfDto,
): Generator<ParameterValue | BodyValue, void> {
  const json = isReadIn('json', sources.get('json'));
  const form = isReadIn('form', sources.get('form')) && takesForm;
  // A schema that is not used would leave its names in the document, so each is made where it is used.
  const query =
    !(json || form) || prefersQuery({ json, form }) ? valueOf(sources.get('query'), 'query', from) : undefined;
  if (query) yield { ...query, in: 'query' };
  else if (json || form) {
    const inForm = form ? valueOf(sources.get('form'), 'form', from) : undefined;
    yield { json: valueOf(sources.get('json'), 'json', from), form: inForm };
  }
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
