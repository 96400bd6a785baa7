import type { Source } from '../../problems/problem';
import type { ResolvedLimits } from '../reading/limits';
import { isCollection, notNull, objectsOf, takesFiles } from '../types/codec';
import type { Codec, CodecMember, JsonSchema, ListCodec, ScalarCodec } from '../types/codec';
import { requiresValue } from '../types/schema';
import { exactText, written } from '../types/write-value';
import { namingErrors } from './declarations';

/** The limits of an endpoint that a schema can say. */
export type SizeLimits = Pick<ResolvedLimits, 'items' | 'files' | 'fileBytes'>;

/** Makes the schemas of types, for JSON that a client sends or that a response holds. */
export interface Schemas {
  readonly direction: 'request' | 'response';
  /** Where the client sends the value; undefined for a response. A nested dto can block a source. */
  readonly source?: Source | undefined;
  /** True if the endpoint refuses names that no property takes. */
  readonly isClosed?: boolean;
  /**
   * Limits of the endpoint; undefined for a response, and inside a schema that has a name: endpoints with other limits
   * share it.
   */
  readonly limits?: SizeLimits | undefined;
  /** Returns the schema of a nested type. */
  of(type: Codec): JsonSchema;
  /**
   * Returns a reference to a schema that has a name, so that it appears in the document once, and may refer to itself.
   * @param make gets the schemas for what is inside.
   */
  named(type: Codec, name: string, make: (inside: Schemas) => JsonSchema): JsonSchema;
  /** Returns the JSON Schema that a Standard Schema offers. @throws TypeError if it offers none. */
  ofStandard(schema: object): JsonSchema;
}

/** Describes the JSON of a type. */
export function schemaOf(codec: Codec, schemas: Schemas): JsonSchema {
  switch (codec.kind) {
    case 'scalar':
      return schemaOfScalar(codec, schemas);
    case 'nullable':
      return orNull(schemas.of(codec.inner));
    case 'list':
      return arrayOf(codec, schemas.of(codec.item), schemas);
    case 'record':
      return {
        type: 'object',
        additionalProperties: schemas.of(codec.item),
        ...limited(undefined, 'maxProperties', schemas.limits?.items),
      };
    case 'object':
      // A class without a name may contain itself, too.
      return schemas.named(codec, codec.name === 'object' ? 'Dto' : codec.name, inside => {
        const jsonName = (member: CodecMember): string => member.jsonName;
        return schemas.direction === 'request'
          ? {
              ...objectSchema(codec.fields, jsonName, inside, member => member.jsonRequired || mustBeSent(member)),
              ...(schemas.isClosed && { additionalProperties: false }),
            }
          : objectSchema(codec.members, jsonName, inside);
      });
    case 'union': {
      const branches = [...codec.branches.values()].map(branch => schemas.of(branch));
      const mapping = Object.fromEntries(
        [...codec.branches.keys()].map((value, at) => [String(value), branches[at]?.['$ref']]),
      );
      return { oneOf: branches, discriminator: { propertyName: codec.tag.jsonName, mapping } };
    }
    case 'file': {
      // As `maxLength`, a generator would ask for the characters of a file.
      const { maxLength, ...keywords } = codec.keywords ?? {};
      const most = limited(maxLength, 'maxLength', schemas.limits?.fileBytes)['maxLength'] as number | undefined;
      // Swagger UI offers a file only for the format of OpenAPI 3.0.
      const file = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream', ...keywords };
      return most === undefined ? file : { ...file, description: `At most ${most} bytes.` };
    }
    case 'schema':
      return schemas.ofStandard(codec.standard);
  }
}

function schemaOfScalar({ schema, writtenSchema, inner, json }: ScalarCodec, schemas: Schemas): JsonSchema {
  const isRequest = schemas.direction === 'request';
  const own = (isRequest ? schema : (writtenSchema ?? schema)) ?? {};
  if (!inner || (schema && !json)) return own;
  return json && isRequest ? { anyOf: [own, schemas.of(inner)] } : schemas.of(inner);
}

/** Describes the text of a type, if that is another than its JSON. */
export function schemaOfText(codec: Codec, schemas: Schemas): JsonSchema | undefined {
  const type = notNull(codec);
  if (type.kind === 'scalar') return type.schemaOfText;
  const item = type.kind === 'list' ? schemaOfText(type.item, schemas) : undefined;
  return item && type.kind === 'list' ? arrayOf(type, item, schemas) : undefined;
}

/** Describes an object under the names that it has in a form or a query. */
export function schemaOfNames(codec: Codec, schemas: Schemas): JsonSchema {
  const objects = objectsOf(codec).map(({ fields }) =>
    objectSchema(fields, ({ bindName }) => bindName, schemas, isNeededName),
  );
  const [only = schemaOf(codec, schemas)] = objects;
  return objects.length > 1 ? { oneOf: objects } : only;
}

/** Returns true if names must have the member. A collection without values cannot be sent, and is empty. */
const isNeededName = (member: CodecMember): boolean => !isCollection(member.codec) && mustBeSent(member);

/** Describes an array, and the number of items that the endpoint takes. */
function arrayOf({ item, keywords }: ListCodec, items: JsonSchema, { limits }: Schemas): JsonSchema {
  const areFiles = takesFiles(item);
  // The files of a list of lists are sent under one name, too: each is a list of its own.
  if (areFiles && isCollection(item)) return items;
  const most = limits && (areFiles ? Math.min(limits.items, limits.files) : limits.items);
  return { type: 'array', items, ...keywords, ...limited(keywords?.['maxItems'], 'maxItems', most) };
}

/** Returns the smaller of the limits of a type and an endpoint. */
function limited(own: unknown, keyword: string, most: number | undefined): JsonSchema {
  const limit = Math.min(typeof own === 'number' ? own : Infinity, most ?? Infinity);
  return limit === Infinity ? {} : { [keyword]: limit };
}

/**
 * Describes an object with these members, under the names that `nameOf` returns. Members that do not bind from the
 * source are left out.
 */
function objectSchema(
  members: readonly CodecMember[],
  nameOf: (member: CodecMember) => string,
  schemas: Schemas,
  isRequired = mustBeSent,
): JsonSchema {
  const sent = members.filter(({ dontBind }) => schemas.source === undefined || !dontBind.includes(schemas.source));
  const required = sent.filter(member => isRequired(member)).map(nameOf);
  return {
    type: 'object',
    properties: Object.fromEntries(sent.map(member => [nameOf(member), memberSchema(member, schemas)])),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Describes the value of a member.
 * @throws TypeError that names the property if its type cannot be described.
 */
export function memberSchema(member: CodecMember, schemas: Schemas): JsonSchema {
  const schema = namingErrors(`property ${member.property}`, () => schemas.of(member.codec));
  // The type can have a limit that only words say.
  const description = [member.spec.description, schema['description']].filter(Boolean).join(' ');
  const value = schemas.direction === 'request' && !member.required ? schemaDefaultOf(member) : undefined;
  return {
    ...schema,
    ...(description !== '' && { description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Returns true if a request without the value is refused: a schema may have a value of its own for it. */
export function mustBeSent({ required, codec }: CodecMember): boolean {
  const type = notNull(codec);
  if (type.kind === 'scalar') return required && type.whenMissing === undefined;
  return required && (type.kind !== 'schema' || requiresValue(type));
}

/**
 * Returns the default as JSON; undefined if there is none, if it is made for each request, or if JSON cannot hold it.
 */
function schemaDefaultOf({ codec, spec: { default: given, initial = given } }: CodecMember): unknown {
  if (typeof given === 'function' || initial === undefined) return undefined;
  try {
    return JSON.parse(exactText(written(codec, initial)) ?? '');
  } catch {
    return undefined;
  }
}

/** Keywords that can exclude null, whatever the type is. */
const EXCLUDING = ['const', 'allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref'];

/** Adds null to the values of a schema. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (type === 'null' || schema['const'] === null) return schema;
  if (typeof type !== 'string' || EXCLUDING.some(keyword => keyword in schema))
    return { anyOf: [schema, { type: 'null' }] };
  // Items of an enumeration are unique.
  const members = Array.isArray(values) && [...new Set([...(values as unknown[]), null])];
  return { ...schema, type: [type, 'null'], ...(members && { enum: members }) };
}
