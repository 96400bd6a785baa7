import type { OpenApiOptions } from '../options/openapi-options';

/**
 * Makes the Content-Security-Policy of the page of `apiDocs()`. It allows the page what it needs and nothing else: its
 * own files, and requests to the servers of the API.
 */
export function policyFor({ servers = [] }: OpenApiOptions): string {
  const origins = new Set((servers as readonly Server[]).flatMap(addressesOf).flatMap(originOf));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** OpenAPI 3.1, section 4.8.5. */
interface Server {
  readonly url?: string;
  readonly variables?: Readonly<Record<string, { readonly enum?: readonly string[]; readonly default?: string }>>;
}

/**
 * Returns the addresses of a server with the values that its variables can have; the default of those that take any.
 */
function addressesOf({ url = '', variables = {} }: Server): string[] {
  return Object.entries(variables).reduce(
    (addresses, [name, { enum: values, default: byDefault = '' }]) =>
      addresses.flatMap(address => (values ?? [byDefault]).map(value => address.replaceAll(`{${name}}`, value))),
    [url],
  );
}

/** The characters of an origin in a Content-Security-Policy (CSP Level 3, section 2.3.1): no braces, no semicolon. */
const ORIGIN = /^(?:https?:\/\/)?[\w.:[\]-]+$/;

/** Returns the origin of an address; none for an address below that of the page. */
function originOf(address: string): string[] {
  const [own, whole] = address.startsWith('//')
    ? (['host', `https:${address}`] as const)
    : (['origin', address] as const);
  return URL.canParse(whole) ? [new URL(whole)[own]].filter(origin => ORIGIN.test(origin) && origin !== 'null') : [];
}
