import type { IncomingMessage } from 'node:http';
import { parse } from 'cookie';
import { warnOnce } from '../../warnings/warn-once';
import { sha256 } from '../../basics/bytes';

/** Schemes whose Authorization header differs for each request, so that a retry would look like another caller. */
const SIGNED = /^(?:AWS4-|(?:Digest|OAuth|Hawk|HMAC[\w-]*|Signature|Negotiate|NTLM)(?:\s|$))/i;

/**
 * Returns the credentials of a request without a known caller: a hash of each of Authorization, `X-Api-Key` and session
 * id that it has. Hashes, because cache keys may be logged.
 * @throws Error for a scheme that signs each request, and for a session without an id.
 */
export function credentialsOf(req: IncomingMessage & WithSession): string | undefined {
  const { authorization, 'x-api-key': apiKey } = req.headers;
  if (authorization !== undefined && SIGNED.test(authorization)) throw signedAnew(authorization);
  const hashes: string[] = [];
  if (authorization !== undefined) hashes.push(`authorization:${sha256(authorization)}`);
  if (apiKey !== undefined) hashes.push(`x-api-key:${sha256(String(apiKey))}`);
  const session = sessionOf(req);
  if (session !== undefined) hashes.push(`session:${sha256(session)}`);
  else if (hasUnnamedSession(req, req.headers.cookie)) throw unnamedSession();
  return hashes.length > 0 ? hashes.join(' ') : undefined;
}

/** Headers in which gateways name the caller: of AWS, Azure, Cloudflare, Google, Kong, oauth2-proxy and others. */
const NAMING_HEADERS = [
  ...['remote-user', 'x-remote-user', 'x-user', 'x-user-id', 'x-user-email', 'x-username', 'x-webauth-user'],
  ...['x-forwarded-user', 'x-forwarded-email', 'x-forwarded-preferred-username'],
  ...['x-auth-request-user', 'x-auth-request-email', 'x-authenticated-user', 'x-authenticated-userid'],
  ...['x-consumer-id', 'x-consumer-custom-id', 'x-consumer-username', 'x-credential-identifier'],
  ...['x-amzn-oidc-identity', 'x-amzn-oidc-data', 'x-ms-client-principal', 'x-ms-client-principal-id'],
  ...['cf-access-authenticated-user-email', 'cf-access-jwt-assertion', 'tailscale-user-login'],
  ...['x-goog-authenticated-user-id', 'x-goog-authenticated-user-email', 'x-goog-iap-jwt-assertion'],
  ...['x-authentik-uid', 'x-authentik-username'],
];

/** Warns that callers who may be different share responses. */
export function warnOfAnonymous({ headers }: IncomingMessage): void {
  const naming = NAMING_HEADERS.find(name => headers[name] !== undefined);
  if (headers.cookie === undefined && naming === undefined) return;
  const what = naming === undefined ? 'cookies' : `the header ${naming}`;
  warnOnce(
    naming === undefined ? 'BINDONCE_COOKIE_ONLY' : 'BINDONCE_HEADER_ONLY',
    `idempotency: a request has ${what} and nothing that tells callers apart (req.auth, req.user, Authorization, ` +
      'X-Api-Key or a session), so all such callers share responses. Mount idempotency() after authentication, or ' +
      `pass \`scope\`${naming === undefined ? '' : `, for example \`scope: req => req.get('${naming}')\``}.`,
  );
}

/**
 * Returns a function that returns text if the request has a session by then that it does not have now, and that its
 * cookie may have named: whoever reads it runs after `idempotency()`.
 */
export function watchForSession(req: IncomingMessage & WithSession): () => string | undefined {
  const { cookie } = req.headers;
  if (cookie === undefined || req.session !== undefined || req.sessionID !== undefined) return () => undefined;
  const isSent = (): boolean => SIGNED_COOKIE.test(cookie) || sessionOf(req, cookie) !== undefined;
  return () =>
    (typeof req.sessionID === 'string' ? isSent() : hasUnnamedSession(req, cookie)) ? 'a session' : undefined;
}

/** Matches cookies as express-session signs them: by now, the handler may have given the session another id. */
const SIGNED_COOKIE = /= *"?s(?::|%3A)/i;

/** A request behind a middleware for sessions. */
interface WithSession {
  readonly sessionID?: unknown;
  readonly session?: { readonly cookie?: unknown } | null;
  /** The options of cookie-session. */
  readonly sessionOptions?: { readonly name?: string };
}

/**
 * Returns the id of the session that the client has sent. For a client without a session, express-session makes a new
 * one, which does not identify the caller and would differ for a retry: its id is not in the client's cookies.
 */
function sessionOf(req: IncomingMessage & WithSession, cookie = req.headers.cookie): string | undefined {
  const { sessionID, session } = req;
  if (typeof sessionID !== 'string' || cookie === undefined) return undefined;
  const isNew = typeof session?.cookie === 'object' && !cookie.includes(encodeURIComponent(sessionID));
  return isNew ? undefined : sessionID;
}

/**
 * Returns true for a session without an id that the client may have sent: one whose cookie is there, if that can be
 * known (a handler may have replaced what cookie-session read from it), else one with content.
 */
function hasUnnamedSession({ sessionID, session, sessionOptions }: WithSession, cookie: string | undefined): boolean {
  if (cookie === undefined || typeof sessionID === 'string') return false;
  if (sessionOptions) return parse(cookie)[sessionOptions.name ?? 'session'] !== undefined;
  return typeof session === 'object' && session !== null && Object.keys(session).length > 0;
}

const unnamedSession = (): Error =>
  new Error(
    'idempotency: req.session has no id (req.sessionID) that tells its caller apart, so callers could share a ' +
      'response. Pass the `scope` option, for example `scope: req => req.session?.userId`.',
  );

function signedAnew(authorization: string): Error {
  const scheme = authorization.split(' ', 1)[0]?.slice(0, 40);
  return new Error(
    `idempotency: the Authorization scheme "${scheme}" signs each request, so a retry would look like ` +
      'another caller. Mount idempotency() after authentication, or pass the `scope` option.',
  );
}
