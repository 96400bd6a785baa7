import { securityRule, type SecurityRequirement } from '../binding/options';
import { boolean, checkOptions, fn, object, oneOf, type Rule } from '../options/check';
import type { Mounts } from './routes';
import type { JsonSchemaOf } from './components';

/** Options of {@link openapi}. */
export interface OpenApiOptions {
  /** Title, version and more of the API. */
  info: { readonly title: string; readonly version: string; readonly [field: string]: unknown };
  /** Version of OpenAPI; only 3.2 has the method QUERY. Default `'3.1'`. */
  openapi?: '3.1' | '3.2';
  /** Addresses of the API: `[{ url: 'https://api.example.com' }]`. Default: where the document is. */
  servers?: readonly object[];
  /** Descriptions of the tags. */
  tags?: readonly object[];
  /** How callers authenticate, if there is one way. Default `{ type: 'http', scheme: 'bearer' }`. */
  securityScheme?: object;
  /** The ways in which callers can authenticate, by name. */
  securitySchemes?: Readonly<Record<string, object>>;
  /**
   * The schemes that all operations take: `[{ bearer: [] }, { key: [], user: [] }]` is `bearer`, or `key` together with
   * `user`. Default: any of the schemes, where anonymous callers are refused.
   */
  security?: readonly SecurityRequirement[];
  /** When true, routes without bindonce's middlewares are listed, too. Default false. */
  listOthers?: boolean;
  /** Routers by path that Express does not name: mounted applications and, under Express 5.0 to 5.2, nested routers. */
  mounts?: Mounts;
  /** Returns the JSON Schema of a Standard Schema that offers none (`z.date()`); `{}` leaves it open. */
  jsonSchemaOf?: JsonSchemaOf;
}

/** Names of components (OpenAPI 3.1, section 4.8.7). */
const NAME = /^[a-zA-Z0-9._-]+$/;

const securitySchemesRule: Rule = {
  expects: 'an object of security schemes, by names of letters, digits, ".", "_" and "-"',
  accepts: value =>
    object.accepts(value) &&
    Object.entries(value as object).every(([name, scheme]) => NAME.test(name) && object.accepts(scheme)),
};

const rules: Readonly<Record<keyof OpenApiOptions, Rule>> = {
  ...{ info: { expects: '{ title, version }', accepts: isInfo }, openapi: oneOf('3.1', '3.2') },
  servers: { expects: 'an array of { url }', accepts: Array.isArray },
  tags: { expects: 'an array of { name }', accepts: Array.isArray },
  ...{ securityScheme: object, securitySchemes: securitySchemesRule, security: securityRule },
  ...{ listOthers: boolean, mounts: object, jsonSchemaOf: fn },
};

/**
 * @param owner the function that takes these options, for the message.
 * @throws TypeError for an unknown option or an invalid value; without a valid `info`, it has an example.
 */
export function checkOpenApiOptions(owner: 'openapi' | 'apiDocs', options: unknown): void {
  const { info } = Object(options) as Partial<OpenApiOptions>;
  try {
    if (options === undefined) throw new TypeError(`${owner}: the options are missing.`);
    checkOptions(owner, options, rules);
    if (info === undefined) throw new TypeError(`${owner}: the option info is missing.`);
  } catch (error) {
    if (isInfo(info)) throw error;
    const sentence = (error as Error).message.replace(/[^.?]$/, '$&.');
    throw new TypeError(`${sentence} Write ${owner}(app, { info: { title: 'Orders', version: '1.0.0' } }).`);
  }
}

function isInfo(value: unknown): boolean {
  const { title, version } = (value ?? {}) as Record<string, unknown>;
  return typeof title === 'string' && typeof version === 'string';
}
