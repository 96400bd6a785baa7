import type { Endpoint } from '../../binding/endpoint';
import { mustBeSent } from '../../binding/declaration/describe';
import type { Source } from '../../problems/problem';
import { usuallyHasNoBody } from '../../binding/plan/lookup';
import type { Plan } from '../../binding/plan/plan';
import type { SourceProperty } from '../../binding/plan/source-properties';
import type { JsonSchema, Schemas } from '../../binding/types/json-schema';
import type { PathParameter } from '../routing/path-templates';
import { valuesOf } from './form-names';
import { inPathOnly, inQuery, merged, type ParameterValue } from './parameter-values';
import { isReadIn, valueOf, wholeOf, type Value } from './values';

/** A value of the body; undefined where a body of that kind has no place for it. */
export interface BodyValue {
  readonly json: Value | undefined;
  readonly form: Value | undefined;
  /** True if the value is the whole body. */
  readonly isWhole?: boolean;
}

/** The places where the values of an endpoint's dto are sent: one for each. */
interface Placement {
  readonly parameters: readonly ParameterValue[];
  readonly body: readonly BodyValue[];
  /** The query parameters that replace a value of the path or body. They have no entry of their own. */
  readonly replacing: readonly string[];
}

/** Headers that OpenAPI describes elsewhere: as content types and as security (3.1, section 4.8.12.1). */
const ELSEWHERE = ['accept', 'content-type', 'authorization'];

/** Makes the schemas of what one source reads. */
export type SchemasFrom = (source: Source) => Schemas;

/** Decides where a client sends the values of a dto on one route. */
export function placementOf(
  plan: Plan,
  endpoint: Endpoint,
  method: string,
  pathParameters: readonly PathParameter[],
  schemasFrom: SchemasFrom,
): Placement {
  const all = [...plan.sourcesOf.values()];
  const takesForm = endpoint.options.allowMultipart;
  const route: RouteOfDto = {
    pathParameters,
    // A property that takes the whole body leaves the query to the others.
    prefersQuery: usuallyHasNoBody(method) || plan.wholeBody !== undefined,
    takesForm,
    needsForm: takesForm && all.some(isSentInForm),
    needsJson: all.some(isSentInJson),
    schemasFrom,
  };
  const places = all.map(sources => placeOf(sources, route));
  const parameters = places.flatMap(place => place.parameters ?? []);
  const known = new Set(parameters.filter(one => one.in === 'path').map(({ name }) => name));
  const others = pathParameters.filter(({ name }) => !known.has(name));
  return {
    parameters: merged([...parameters, ...others.map(inPathOnly)]),
    body: places.flatMap(place => place.body ?? []),
    replacing: all.flatMap((sources, index) => replacing(sources, places[index]?.parameters)),
  };
}

/** Returns the name of a value in the query, if it is placed in the path or body, and the query replaces it there. */
function replacing(sources: Sources, parameters: readonly ParameterValue[] = []): string[] {
  const query = sources.get('query');
  return isReadIn('query', query) && parameters.every(one => one.in === 'path') ? [query.name] : [];
}

/** Facts about a route that decide where the values of a dto are sent. */
interface RouteOfDto {
  readonly pathParameters: readonly PathParameter[];
  readonly prefersQuery: boolean;
  readonly takesForm: boolean;
  /** Whether the body is a form, which leaves the query to what a form cannot hold. */
  readonly needsForm: boolean;
  /** Whether the body is JSON, which leaves the query to what JSON cannot hold. */
  readonly needsJson: boolean;
  readonly schemasFrom: SchemasFrom;
}

type Sources = ReadonlyMap<Source, SourceProperty>;

/** Returns true for a property that takes the whole form, or that must be sent and no other body can hold. */
function isSentInForm(sources: Sources): boolean {
  const form = sources.get('form');
  if (!isReadIn('form', form)) return false;
  return form.isRoot || (mustBeSent(form) && !isReadIn('json', sources.get('json')));
}

/** Returns true for a property that the JSON body must have, or that must be sent and no other source has. */
function isSentInJson(sources: Sources): boolean {
  const json = sources.get('json');
  if (!isReadIn('json', json)) return false;
  return json.jsonRequired || (mustBeSent(json) && sources.size === 1);
}

/** Decides where a client sends the value of one property: in the place that its declaration names first. */
function placeOf(sources: Sources, route: RouteOfDto): Partial<Placement> {
  const [root] = [...sources].filter(([, { isRoot }]) => isRoot);
  if (root) return placeOfRoot(...root, route);
  if (sources.has('header') || sources.has('cookie')) return placeInHeaders(sources, route);
  // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
  if (sources.get('claim')?.required === true || sources.has('permission')) return {};
  if (sources.get('json')?.jsonRequired) return placeInJson(sources, route);
  return placeInPath(sources, route) ?? placeInQueryOrBody(sources, route);
}

/** Takes apart the property that takes all names of a form or query. */
function placeOfRoot(source: Source, root: SourceProperty, { schemasFrom }: RouteOfDto): Partial<Placement> {
  const values = valuesOf(root, schemasFrom(source));
  if (source === 'query') return { parameters: (values ?? [wholeOf(root, schemasFrom(source))]).map(inQuery) };
  return {
    body: values?.map(form => ({ json: undefined, form })) ?? [
      { json: undefined, form: wholeOf(root, schemasFrom(source)), isWhole: true },
    ],
  };
}

/**
 * Places a header or cookie, and also the path parameter if the path names it: the path always has a value there, and
 * that is read.
 */
function placeInHeaders(sources: Sources, route: RouteOfDto): Partial<Placement> {
  const source = sources.has('header') ? 'header' : 'cookie';
  const value = valueIn(source, sources, route);
  const isDescribed = value && !ELSEWHERE.includes(value.name.toLowerCase());
  const inPath = placeInPath(sources, route)?.parameters ?? [];
  return { parameters: [...(isDescribed ? [{ ...value, in: source } as const] : []), ...inPath] };
}

/**
 * Places a value that the JSON body must have, even if another source has it, too. No form can stand for it.
 */
function placeInJson(sources: Sources, route: RouteOfDto): Partial<Placement> {
  const json = valueIn('json', sources, route);
  return {
    ...placeInPath(sources, route),
    ...(json && { body: [{ json: { ...json, required: true }, form: undefined }] }),
  };
}

/** Returns undefined if the path does not name the property. */
function placeInPath(sources: Sources, route: RouteOfDto): Partial<Placement> | undefined {
  const name = sources.get('route')?.name;
  const parameter =
    route.pathParameters.find(({ key }) => key === name) ??
    route.pathParameters.find(({ key }) => key?.toLowerCase() === name?.toLowerCase());
  const value = parameter && valueIn('route', sources, route);
  if (!value) return undefined;
  const { schema, ...rest } = { ...value, name: parameter.name, required: true, in: 'path' as const };
  return { parameters: [{ ...rest, schema: parameter.isWildcard ? ofSegments(schema) : schema }] };
}

/** Describes a list in a wildcard: OpenAPI can write no list that has slashes between its items. */
const ofSegments = (schema: JsonSchema): JsonSchema =>
  [schema['type']].flat().includes('array')
    ? { type: 'string', description: 'The items, with slashes between them, which are not encoded.' }
    : schema;

function placeInQueryOrBody(sources: Sources, route: RouteOfDto): Partial<Placement> {
  // A schema that is not used would leave its names in the document, so each is made where it is used.
  const hasJson = isReadIn('json', sources.get('json'));
  const hasForm = isReadIn('form', sources.get('form')) && route.takesForm;
  const inBody = hasJson || hasForm;
  const leavesBody = route.prefersQuery || (route.needsForm && !hasForm) || (route.needsJson && !hasJson);
  const query = leavesBody || !inBody ? valueIn('query', sources, route) : undefined;
  if (query) return { parameters: [inQuery(query)] };
  if (!inBody) return {};
  const form = hasForm ? valueIn('form', sources, route) : undefined;
  return { body: [{ json: valueIn('json', sources, route), form }] };
}

const valueIn = (source: Source, sources: Sources, { schemasFrom }: RouteOfDto): Value | undefined =>
  valueOf(sources.get(source), source, schemasFrom(source));
