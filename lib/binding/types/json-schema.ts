import type { Source } from '../../problems/problem';
import type { ResolvedLimits } from '../reading/limits';
import type { Codec, JsonSchema } from './codec';

export type { JsonSchema };

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
