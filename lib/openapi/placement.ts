import type { EndpointDescription } from '../binding/bind-request';
import { memberSchema, mustBeSent } from '../binding/declaration/dto-schema';
import type { Source } from '../binding/declaration/property';
import type { Plan } from '../binding/plan/plan';
import type { SourceProperty } from '../binding/plan/source-properties';
import type { JsonSchema, Schemas } from '../binding/types/json-schema';

/** A value of a request, as the document describes it: its name, whether it must be sent, and its schema. */
export interface Value {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** A value outside of the body. */
export interface ParameterValue extends Value {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
}

/** A value of the body; undefined where a body of that kind has no place for it. */
export interface BodyValue {
  readonly json: Value | undefined;
  readonly form: Value | undefined;
}

/** Where the values of an endpoint's dto are sent: each in one place. */
export interface Placement {
  readonly parameters: readonly ParameterValue[];
  readonly body: readonly BodyValue[];
}

/** Headers that OpenAPI describes elsewhere: as content types and as security (3.1, section 4.8.12.1). */
const ELSEWHERE = ['accept', 'content-type', 'authorization'];

/** Decides where a client sends the values of a dto on one route. */
export function placementOf(
  plan: Plan,
  { endpoint: { settings } }: EndpointDescription,
  method: string,
  pathParameters: readonly string[],
  schemas: Schemas,
): Placement {
  const parameters: ParameterValue[] = [];
  const body: BodyValue[] = [];
  const takesForm = settings.allowMultipart;
  for (const sources of plan.sourcesOf.values()) {
    const value = (source: Source): Value | undefined => valueOf(sources.get(source), schemas);
    const root = [...sources.values()].find(({ isRoot }) => isRoot);
    if (root) {
      const values = valuesOf(root, schemas);
      if (sources.has('query')) parameters.push(...values.map(one => ({ ...one, in: 'query' as const })));
      else body.push(...values.map(form => ({ json: undefined, form })));
      continue;
    }
    const header = sources.get('header');
    const own = value('header') ?? value('cookie');
    if (own) {
      if (!ELSEWHERE.includes(own.name.toLowerCase())) parameters.push({ ...own, in: header ? 'header' : 'cookie' });
      continue;
    }
    // Claims and permissions come from the caller's token; a client sends only what may take the place of one.
    if (sources.get('claim')?.required === true || sources.has('permission')) continue;
    const routeName = sources.get('route')?.name.toLowerCase();
    const inPath = pathParameters.find(name => name.toLowerCase() === routeName);
    const inRoute = value('route');
    if (inPath !== undefined && inRoute) {
      parameters.push({ ...inRoute, name: inPath, required: true, in: 'path' });
      continue;
    }
    const json = value('json');
    const form = takesForm ? value('form') : undefined;
    const query = value('query');
    if ((json ?? form) && !['get', 'head'].includes(method)) body.push({ json, form });
    else if (query) parameters.push({ ...query, in: 'query' });
  }
  const known = new Set(parameters.filter(one => one.in === 'path').map(({ name }) => name));
  const others = pathParameters.filter(name => !known.has(name));
  return {
    parameters: [
      ...parameters,
      ...others.map(name => ({ name, in: 'path' as const, required: true, schema: { type: 'string' } })),
    ],
    body,
  };
}

function valueOf(property: SourceProperty | undefined, schemas: Schemas): Value | undefined {
  return property && { name: property.name, required: mustBeSent(property), schema: memberSchema(property, schemas) };
}

/** Takes the object apart that binds all names of a form or query. */
function valuesOf({ codec, required }: SourceProperty, schemas: Schemas): Value[] {
  const { properties = {}, required: names = [] } = (codec.schemaOfNames ?? codec.schema)?.(schemas) ?? {};
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => ({
    name,
    required: required && (names as readonly string[]).includes(name),
    schema,
  }));
}

/** Tells whether a value is an object, or a list of objects: outside of JSON it is sent as JSON text. */
export function isStructured({ type, items, $ref, anyOf }: JsonSchema): boolean {
  if (type === 'array') return isStructured((items ?? {}) as JsonSchema);
  return $ref !== undefined || type === 'object' || (Array.isArray(anyOf) && anyOf.some(isStructured));
}
