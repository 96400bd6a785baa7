import type { Source } from '../../problems/problem';
import { objectsOf, takesFiles } from '../types/codec';
import type { Codec, JsonSchema, ListCodec, Member } from '../types/codec';
import { requiresValue } from '../types/schema';
import { exactText, written } from '../types/write-value';
import { namingErrors } from './declarations';

/** Makes the schemas of types, for JSON that a client sends or that a response holds. */
export interface Schemas {
  readonly direction: 'request' | 'response';
  /** Where the client sends the value; undefined for a response. A nested dto can block a source. */
  readonly source?: Source | undefined;
  /** True if the endpoint refuses names that no property takes. */
  readonly isClosed?: boolean;
  /** Returns the schema of a nested type. */
  of(type: Codec): JsonSchema;
  /**
   * Returns a reference to a schema that has a name, so that it appears in the document once, and may refer to itself.
   */
  named(type: Codec, name: string, make: () => JsonSchema): JsonSchema;
  /** Returns the JSON Schema that a Standard Schema offers. @throws TypeError if it offers none. */
  ofStandard(schema: object): JsonSchema;
}

/** Describes the JSON of a type. */
export function schemaOf(codec: Codec, schemas: Schemas): JsonSchema {
  if (codec.notNull) return orNull(schemas.of(codec.notNull));
  const isRequest = schemas.direction === 'request';
  switch (codec.kind) {
    case 'scalar':
      return (isRequest ? codec.schema : (codec.writtenSchema ?? codec.schema)) ?? {};
    case 'list':
      return arrayOf(codec, schemas.of(codec.item));
    case 'record':
      return { type: 'object', additionalProperties: schemas.of(codec.item) };
    case 'object': {
      const isRequired = (member: Member): boolean => (isRequest && member.jsonRequired) || mustBeSent(member);
      // A class without a name may contain itself, too.
      return schemas.named(codec, codec.name === 'object' ? 'Dto' : codec.name, () => ({
        ...objectSchema(codec.members, 'jsonName', schemas, isRequired),
        ...(isRequest && schemas.isClosed && { additionalProperties: false }),
      }));
    }
    case 'union': {
      const branches = [...codec.branches.values()].map(branch => schemas.of(branch));
      const mapping = Object.fromEntries(
        [...codec.branches.keys()].map((value, at) => [String(value), branches[at]?.['$ref']]),
      );
      return { oneOf: branches, discriminator: { propertyName: codec.tag.jsonName, mapping } };
    }
    case 'file': {
      // As `maxLength`, a generator would ask for the characters of a file.
      const { maxLength: most, ...keywords } = codec.keywords ?? {};
      // Swagger UI offers a file only for the format of OpenAPI 3.0.
      const file = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream', ...keywords };
      return typeof most === 'number' ? { ...file, description: `At most ${most} bytes.` } : file;
    }
    case 'schema':
      return schemas.ofStandard(codec.standard);
  }
}

/** Describes the text of a type, if that is another than its JSON. */
export function schemaOfText(codec: Codec, schemas: Schemas): JsonSchema | undefined {
  if (codec.kind !== 'list' || codec.schemaOfText) return codec.schemaOfText;
  const item = schemaOfText(codec.item, schemas);
  return item && arrayOf(codec, item);
}

/** Describes an object under the names that it has in a form or a query. */
export function schemaOfNames(codec: Codec, schemas: Schemas): JsonSchema {
  const objects = objectsOf(codec).map(({ members }) => objectSchema(members, 'bindName', schemas, isNeededName));
  const [only = schemaOf(codec, schemas)] = objects;
  return objects.length > 1 ? { oneOf: objects } : only;
}

/** Returns true if names must have the member. A collection without values cannot be sent, and is empty. */
const isNeededName = (member: Member): boolean => member.codec.kind !== 'list' && mustBeSent(member);

function arrayOf({ item, keywords }: ListCodec, items: JsonSchema): JsonSchema {
  // The files of a list of lists are sent under one name, too: each is a list of its own.
  return takesFiles(item) && item.kind === 'list' ? items : { type: 'array', items, ...keywords };
}

/** Describes an object under one of the names of its members. Those that the source does not bind are left out. */
function objectSchema(
  members: readonly Member[],
  named: 'jsonName' | 'bindName',
  schemas: Schemas,
  isRequired: (member: Member) => boolean,
): JsonSchema {
  const sent = members.filter(({ dontBind }) => schemas.source === undefined || !dontBind.includes(schemas.source));
  const required = sent.filter(isRequired).map(member => member[named]);
  return {
    type: 'object',
    properties: Object.fromEntries(sent.map(member => [member[named], memberSchema(member, schemas)])),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Describes the value of a member.
 * @throws TypeError that names the property if its type cannot be described.
 */
export function memberSchema(member: Member, schemas: Schemas): JsonSchema {
  const schema = namingErrors(`property ${member.property}`, () => schemas.of(member.codec));
  // The type can have a limit that only words say.
  const description = [member.description, schema['description']].filter(Boolean).join(' ');
  const value = schemas.direction === 'request' && !member.required ? schemaDefaultOf(member) : undefined;
  return {
    ...schema,
    ...(description !== '' && { description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Returns true if a request without the value is refused: a schema may have a value of its own for it. */
export function mustBeSent({ required, codec }: Member): boolean {
  if (codec.kind === 'scalar') return required && codec.whenMissing === undefined;
  return required && (codec.kind !== 'schema' || requiresValue(codec));
}

/**
 * Returns the default as JSON; undefined if there is none, if it is made for each request, or if JSON cannot hold it.
 */
function schemaDefaultOf({ codec, default: value }: Member): unknown {
  if (typeof value === 'function' || value === undefined) return undefined;
  try {
    return JSON.parse(exactText(written(codec, value)) ?? '');
  } catch {
    return undefined;
  }
}

/** Keywords that can exclude null, whatever the type is. */
const EXCLUDING = ['const', 'enum', 'allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref'];

/** Adds null to the values of a schema. */
const orNull = (schema: JsonSchema): JsonSchema =>
  typeof schema['type'] === 'string' && schema['type'] !== 'null' && !EXCLUDING.some(keyword => keyword in schema)
    ? { ...schema, type: [schema['type'], 'null'] }
    : { anyOf: [schema, { type: 'null' }] };
