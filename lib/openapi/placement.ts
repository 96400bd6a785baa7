import { mustBeSent, schemaOfNames } from '../binding/declaration/describe';
import type { Endpoint } from '../binding/endpoint';
import { usuallyHasNoBody } from '../binding/plan/lookup';
import type { Plan } from '../binding/plan/plan';
import type { SourceProperty, SourcesOfProperty } from '../binding/plan/source-properties';
import type { JsonSchema } from '../binding/types/json-schema';
import type { Source } from '../problems/problem';
import type { PathParameter } from './express-paths';
import { valuesOf } from './form-names';
import { isReadIn, oneOfEach, valueOf, type SchemasFrom, type Value } from './values';

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

/** The places where the values of an endpoint's dto are sent: one for each. */
export interface Placement {
  readonly parameters: readonly ParameterValue[];
  readonly body: readonly BodyValue[];
  /** The query parameters that replace a value of the path or body. They have no entry of their own. */
  readonly replacing: readonly string[];
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
export function placementOf(
  plan: Plan,
  { options }: Endpoint,
  method: string,
  pathParameters: readonly PathParameter[],
  from: SchemasFrom,
): Placement {
  const whole = plan.wholeBody?.member.property;
  const all = [...plan.sourcesOf].flatMap(([property, sources]) => (property === whole ? [] : [sources]));
  const takesForm = options.allowMultipart;
  const [needsForm, needsJson] = [takesForm && all.some(isSentInForm), all.some(isSentInJson)];
  // A property that takes the whole body leaves the query to the others.
  const hasNoFields = usuallyHasNoBody(method) || plan.wholeBody !== undefined;
  const route: RouteOfDto = {
    pathParameters,
    takesForm,
    prefersQuery: isIn => hasNoFields || (needsForm && !isIn.form) || (needsJson && !isIn.json),
    from,
  };
  const places = all.map(sources => placeOf(sources, route));
  return {
    parameters: merged([...places.flatMap(place => place.parameters ?? []), ...pathParameters.map(inPathOnly)]),
    body: places.flatMap(place => place.body ?? []),
    replacing: all.flatMap((sources, index) => replacing(sources, places[index]?.parameters)),
  };
}

/** Describes a path parameter that no property binds from. */
export const inPathOnly = ({ name }: PathParameter): ParameterValue => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

/** Names of query parameters and of headers match in any case; in a path, `{Id}` and `{id}` are two values. */
const merged = (parameters: readonly ParameterValue[]): ParameterValue[] =>
  oneOfEach(parameters, one =>
    one.in === 'cookie' || one.in === 'path' ? `${one.in} ${one.name}` : `${one.in} ${one.name.toLowerCase()}`,
  );

/** Returns the name of a value in the query, if it is placed in the path or body, and the query replaces it there. */
function replacing(sources: Sources, parameters: readonly ParameterValue[] = []): string[] {
  const query = sources.get('query');
  return isReadIn('query', query) && parameters.every(one => one.in === 'path') ? [query.name] : [];
}

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
function placeOf(sources: Sources, route: RouteOfDto): Partial<Placement> {
  const [form, query] = [sources.get('form'), sources.get('query')];
  if (form?.isRoot) return placeOfRoot('form', form, route);
  if (query?.isRoot) return placeOfRoot('query', query, route);
  if (sources.has('header')) return placeOutside('header', sources, route);
  if (sources.has('cookie')) return placeOutside('cookie', sources, route);
  // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
  if (sources.get('claim')?.required === true || sources.has('permission')) return {};
  const json = sources.get('json');
  // The body must have it, even if the path has it, too. No form can stand for it.
  if (json?.jsonRequired) {
    const value = valueOf(json, 'json', route.from);
    return {
      ...placeInPath(sources, route),
      ...(value && { body: [{ json: { ...value, required: true }, form: undefined }] }),
    };
  }
  return placeInPath(sources, route) ?? placeInQueryOrBody(sources, route);
}

/** Takes apart the property that takes all names of a form or query; a union has no properties of its own. */
function placeOfRoot(source: Source, root: SourceProperty, { from }: RouteOfDto): Partial<Placement> {
  const { property: name, codec, required } = root;
  const values = valuesOf(root, from(source));
  const whole: Value = { name, required, schema: schemaOfNames(codec, from(source)) };
  if (source === 'query')
    return {
      parameters: values?.map(one => ({ ...one, in: source })) ?? [{ ...whole, in: source, isExploded: true }],
    };
  return {
    body: values?.map(form => ({ json: undefined, form })) ?? [{ json: undefined, form: whole, isWhole: true }],
  };
}

/**
 * Places a header or cookie, and also the path parameter if the path names it: the path always has a value there, and
 * that is read.
 */
function placeOutside(source: 'header' | 'cookie', sources: Sources, route: RouteOfDto): Partial<Placement> {
  const value = valueOf(sources.get(source), source, route.from);
  const isDescribed = value && !ELSEWHERE.includes(value.name.toLowerCase());
  const inPath = placeInPath(sources, route)?.parameters ?? [];
  return { parameters: [...(isDescribed ? [{ ...value, in: source }] : []), ...inPath] };
}

/** Returns undefined if the path does not name the property. */
function placeInPath(sources: Sources, route: RouteOfDto): Partial<Placement> | undefined {
  const property = sources.get('route');
  const parameter =
    route.pathParameters.find(({ key }) => key === property?.name) ??
    route.pathParameters.find(({ key }) => key?.toLowerCase() === property?.anyCase);
  const value = parameter && valueOf(property, 'route', route.from);
  if (!value) return undefined;
  const schema = parameter.isWildcard ? ofSegments(value.schema) : value.schema;
  return { parameters: [{ name: parameter.name, in: 'path', required: true, schema }] };
}

/** Describes a list in a wildcard: OpenAPI can write no list that has slashes between its items. */
const ofSegments = (schema: JsonSchema): JsonSchema =>
  [schema['type']].flat().includes('array')
    ? { type: 'string', description: 'The items, with slashes between them, which are not encoded.' }
    : schema;

function placeInQueryOrBody(sources: Sources, { takesForm, prefersQuery, from }: RouteOfDto): Partial<Placement> {
  const isIn = {
    json: isReadIn('json', sources.get('json')),
    form: isReadIn('form', sources.get('form')) && takesForm,
  };
  const inBody = isIn.json || isIn.form;
  // A schema that is not used would leave its names in the document, so each is made where it is used.
  const query = !inBody || prefersQuery(isIn) ? valueOf(sources.get('query'), 'query', from) : undefined;
  if (query) return { parameters: [{ ...query, in: 'query' }] };
  const form = isIn.form ? valueOf(sources.get('form'), 'form', from) : undefined;
  return inBody ? { body: [{ json: valueOf(sources.get('json'), 'json', from), form }] } : {};
}
