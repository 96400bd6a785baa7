import type { IncomingMessage } from 'node:http';
import { parse } from 'cookie';
import { warnOnce } from '../../warnings/warn-once';
import { sha256 } from '../../basics/sha256';

/** Schemes whose Authorization header differs for each request, so that a retry would look like another caller. */
const SIGNED = /^(?:AWS4-|(?:Digest|OAuth|Hawk|HMAC[\w-]*|Signature|Negotiate|NTLM)(?:\s|$))/i;

/**
 * Returns the credentials of a request without a known caller: a hash of each of Authorization, `X-Api-Key` and session
 * id that it has. Hashes, because cache keys may be logged.
 * @throws Error for a scheme that signs each request, and for a session without an id.
 */
export function credentialsOf(req: IncomingMessage): string | undefined {
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

/** Warns that callers who may be different share responses. */
export function warnOfCookies(req: IncomingMessage): void {
  if (req.headers.cookie === undefined) return;
  warnOnce(
    'BINDONCE_COOKIE_ONLY',
    'idempotency: a request has cookies and nothing that tells callers apart (req.auth, req.user, Authorization, ' +
      'X-Api-Key or a session), so all such callers share responses. Mount idempotency() after authentication, or ' +
      'pass `scope`.',
  );
}

/** Warns that the retry of a request comes from another caller. */
function warnOfEndedSession(): void {
  warnOnce(
    'BINDONCE_SESSION_ENDED',
    'idempotency: the session that tells the caller of a request apart was ended or renewed while its handler ran, ' +
      'so a retry comes from another caller and runs again. Pass `scope`, for example with the cookie of the ' +
      'session, or end the session in a later request.',
  );
}

/** Notes the session of a request. @returns a function that warns if it is another one by then, or none. */
export function watchSession(req: IncomingMessage): () => void {
  const before = sessionOf(req);
  const { session } = req as WithSession;
  return () => {
    const isGone = session !== undefined && !(req as WithSession).session;
    if (before !== undefined && (isGone || sessionOf(req) !== before)) warnOfEndedSession();
  };
}

/**
 * Notes that a request has no session yet. @returns a function that returns text if one has appeared, and the cookie of
 * the request may have named it: whoever reads it runs after `idempotency()`.
 */
export function watchForSession(req: IncomingMessage): () => string | undefined {
  const { session, sessionID } = req as WithSession;
  const { cookie } = req.headers;
  if (cookie === undefined || session !== undefined || sessionID !== undefined) return () => undefined;
  return () => {
    const hasAppeared =
      typeof (req as WithSession).sessionID === 'string'
        ? SIGNED_COOKIE.test(cookie) || sessionOf(req, cookie) !== undefined
        : hasUnnamedSession(req, cookie);
    return hasAppeared ? 'a session' : undefined;
  };
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
function sessionOf(req: IncomingMessage, cookie = req.headers.cookie): string | undefined {
  const { sessionID, session } = req as WithSession;
  if (typeof sessionID !== 'string' || cookie === undefined) return undefined;
  const isNew = typeof session?.cookie === 'object' && !cookie.includes(encodeURIComponent(sessionID));
  return isNew ? undefined : sessionID;
}

/**
 * Returns true for a session without an id that the client may have sent: one whose cookie is there, if that can be
 * known (a handler may have replaced what cookie-session read from it), else one with content.
 */
function hasUnnamedSession(req: IncomingMessage, cookie: string | undefined): boolean {
  const { sessionID, session, sessionOptions } = req as WithSession;
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
