import { boolean, checkOptions, object, text, type Rule } from '../options/check';

/** Names of security schemes that a caller needs together, each with its scopes (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** The entry of an endpoint in the API description (OpenAPI 3.1, section 4.8.10). */
export interface OperationOptions {
  /** A short line about the endpoint. Default none. */
  summary?: string;
  /** Text about the endpoint, which may be Markdown. Default none. */
  description?: string;
  /** Names that group endpoints. Default none. */
  tags?: readonly string[];
  /** Name of the operation, unique in the API. Default: made from method and path. */
  operationId?: string;
  /** When true, the endpoint is marked as deprecated. Default false. */
  deprecated?: boolean;
  /** When true, the endpoint is left out. Default false. */
  hidden?: boolean;
  /**
   * How callers authenticate at this endpoint, by the names of `securitySchemes` of `openapi()`: one of the objects,
   * with all schemes that it names; `[]` for anyone. Default: as `allowAnonymous`, claims and permissions say.
   */
  security?: readonly SecurityRequirement[];
  /**
   * Examples of the request body by name: `{ small: { summary: 'One item', value: { … } } }`. A value may hold dates,
   * bigints and whatever else has a `toJSON()`. Default none.
   */
  examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

const textsIn = (value: unknown): boolean => Array.isArray(value) && value.every(one => text.accepts(one));
const eachIn = (value: unknown, holds: (one: unknown) => boolean): boolean =>
  object.accepts(value) && Object.values(value as object).every(holds);

export const securityRule: Rule = {
  expects: 'an array of objects that name schemes and their scopes, for example [{ bearer: [] }]',
  accepts: value => Array.isArray(value) && value.every(one => eachIn(one, textsIn)),
};

const rules: Readonly<Record<keyof OperationOptions, Rule>> = {
  ...{ summary: text, description: text, operationId: text, deprecated: boolean, hidden: boolean },
  tags: { expects: 'an array of names', accepts: textsIn },
  security: securityRule,
  examples: {
    expects: 'an object of { summary, value } by name',
    accepts: value => eachIn(value, one => object.accepts(one) && (one as { value?: unknown }).value !== undefined),
  },
};

/** @throws TypeError for an unknown option or an invalid value. */
export function checkOperation(options: OperationOptions): void {
  checkOptions('bindRequest: openapi', options, rules);
}
