import type { JsonSchema } from '../../binding/types/json-schema';
import { bothSchemas, bothTexts } from '../schemas/both';
import { clashOf, type Clash, type Resolve } from '../schemas/clash';
import type { Content, EndpointBody } from './request-body';

const JSON_TYPE = 'application/json';

/**
 * Describes the body of requests that several endpoints bind: each of them reads the same body, so it must fit all.
 * Undefined if none of them needs one.
 * @param resolve finds the schemas that those of the bodies refer to.
 * @throws TypeError if no media type fits all of them, or if no JSON does and it is the only one.
 */
export function jointBody(
  bodies: readonly EndpointBody[],
  resolve: Resolve,
): Omit<EndpointBody, 'accepted'> | undefined {
  const described = [...new Set(bodies.flatMap(({ contents }) => Object.keys(contents)))];
  if (described.length === 0) return undefined;
  const common = described.filter(type => bodies.every(one => typesOf(one)?.includes(type) ?? true));
  // A text in a form can be a number and a text; JSON cannot.
  const clash = common.includes(JSON_TYPE) ? clashIn(bodies, resolve) : undefined;
  const types = common.filter(type => !(clash && type === JSON_TYPE));
  if (types.length === 0)
    throw new TypeError(
      `no request body fits all of its bindRequest() middlewares: ${clash ? clashing(clash) : taking(bodies)}`,
    );
  return {
    required: bodies.some(({ required }) => required),
    numbered: bodies.flatMap(({ numbered }) => numbered),
    contents: Object.fromEntries(
      types.map(type => {
        const together = type === JSON_TYPE ? bothSchemas : bothTexts;
        return [
          type,
          bodies.flatMap(({ contents }) => contents[type] ?? []).reduce((one, other) => joined(one, other, together)),
        ];
      }),
    ),
  };
}

/** Finds what no JSON can be for two of the bodies. */
function clashIn(bodies: readonly EndpointBody[], resolve: Resolve): Clash | undefined {
  const schemas = bodies.flatMap(({ contents }) => contents[JSON_TYPE] ?? []).map(({ schema }) => schema);
  for (const [at, schema] of schemas.entries())
    for (const other of schemas.slice(at + 1)) {
      const clash = clashOf(schema, other, resolve);
      if (clash) return clash;
    }
  return undefined;
}

const clashing = ({ path, takes: [one, other] }: Clash): string =>
  `the ${path === '' ? 'body' : `property ${path}`} is ${one} to one, and ${other} to another. ` +
  'Give it types that have a value in common, or bind it in one of them.';

const taking = (bodies: readonly EndpointBody[]): string =>
  `they take ${bodies.flatMap(one => typesOf(one)?.join(' or ') ?? []).join(', and ')}. ` +
  'Let them accept one type in common (allowFormData), or bind the body in one of them.';

/** Returns the media types that the body can have for one endpoint; undefined for all. */
function typesOf({ contents, accepted }: EndpointBody): readonly string[] | undefined {
  const described = Object.keys(contents);
  return accepted && described.length > 0 ? described : accepted;
}

/** Makes one schema of two for a value that is read by both. */
type Together = typeof bothSchemas;

function joined(one: Content, other: Content, together: Together): Content {
  const [encoding, examples] = [
    { ...one.encoding, ...other.encoding },
    { ...one.examples, ...other.examples },
  ];
  return {
    schema: joinedSchema(one.schema, other.schema, together),
    ...(Object.keys(encoding).length > 0 && { encoding }),
    ...(Object.keys(examples).length > 0 && { examples }),
  };
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** Makes one object of two whose properties are listed here; of others, a value that both allow. */
function joinedSchema(one: JsonSchema, other: JsonSchema, together: Together): JsonSchema {
  if (!isPlainObject(one) || !isPlainObject(other)) return bothSchemas(one, other);
  const required = [...new Set([one['required'], other['required']].flat())].filter(name => name !== undefined);
  const patterns = joinedProperties(one['patternProperties'], other['patternProperties'], together);
  return {
    type: 'object',
    properties: joinedProperties(one['properties'], other['properties'], together),
    ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
    ...(required.length > 0 && { required }),
  };
}

const isPlainObject = (schema: JsonSchema): boolean =>
  Object.keys(schema).every(key => ['type', 'properties', 'patternProperties', 'required'].includes(key)) &&
  schema['type'] === 'object';

function joinedProperties(one: unknown, other: unknown, together: Together): Properties {
  const all: Record<string, JsonSchema> = { ...(one as Properties | undefined) };
  for (const [name, schema] of Object.entries((other ?? {}) as Properties)) {
    const known = Object.hasOwn(all, name) ? all[name] : undefined;
    all[name] = known ? together(known, schema) : schema;
  }
  return all;
}
