import type { JsonSchema } from '../binding/types/json-schema';
import type { Content, EndpointBody } from './request-body';
import { bothSchemas, bothTexts } from './values';

/**
 * Describes the body of requests that several endpoints bind: each of them reads the same body, so it must fit all.
 * Undefined if none of them needs one.
 * @throws TypeError if no media type fits all of them.
 */
export function jointBody(bodies: readonly EndpointBody[]): Omit<EndpointBody, 'accepted'> | undefined {
  const described = [...new Set(bodies.flatMap(({ contents }) => Object.keys(contents)))];
  if (described.length === 0) return undefined;
  const types = described.filter(type => bodies.every(one => typesOf(one)?.includes(type) ?? true));
  if (types.length === 0)
    throw new TypeError(
      `no request body fits all of its bindRequest() middlewares: they take ${bodies
        .flatMap(one => typesOf(one)?.join(' or ') ?? [])
        .join(', and ')}. Let them accept one type in common (allowFormData), or bind the body in one of them.`,
    );
  return {
    required: bodies.some(({ required }) => required),
    numbered: bodies.flatMap(({ numbered }) => numbered),
    contents: Object.fromEntries(
      types.map(type => {
        const together = type === 'application/json' ? bothSchemas : bothTexts;
        return [
          type,
          bodies.flatMap(({ contents }) => contents[type] ?? []).reduce((one, other) => joined(one, other, together)),
        ];
      }),
    ),
  };
}

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
    const known = all[name];
    all[name] = known ? together(known, schema) : schema;
  }
  return all;
}
