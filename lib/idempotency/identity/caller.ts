import type { IncomingMessage } from 'node:http';
import { parse } from 'cookie';
import type { Request } from 'express';
import { ignoreRejection, isPromise } from '../../basics/awaitable';
import { bytesIn, sha256 } from '../../basics/bytes';
import { authOf, CALLER_IDS, isSignedOut } from '../../principal/principal';
import { warnOnce } from '../../warnings/warn-once';
import type { ResolvedOptions } from '../options/resolved-options';

/**
 * The sender of a request. Unless the `scope` option tells it, everything that is present takes part:
 *
 * | Present on the request                                      | Takes part                                        |
 * |-------------------------------------------------------------|---------------------------------------------------|
 * | `req.auth` (a function is called; of a token, its payload)  | its ids, with issuer, provider, tenant            |
 * | `req.user`                                                  | the same                                          |
 * | one of them, without an id or with an unreadable one        | an error that asks for `scope`                    |
 * | neither, but Authorization, X-Api-Key or a session's cookie | a hash of each                                    |
 * | neither, but an Authorization that signs each request       | an error that asks for `scope`                    |
 * | neither, but a session without an id, and its cookie        | the same                                          |
 * | none of these                                               | nothing: all such callers share responses; if     |
 * |                                                             | they send cookies or the header of a gateway that |
 * |                                                             | names them, a warning is emitted                  |
 *
 * With the application's `claims`, their caller takes the place of `req.auth` and `req.user`.
 */
export class Caller {
  /** Requests of one scope may share a response; so may all requests without a scope. */
  readonly scope: string | undefined;
  /** What tells the caller apart by default. */
  private readonly first: string | undefined;
  /** Read at once: a handler may take credentials out of the headers that it passes on. */
  private readonly credentials: string | undefined;
  /** The cookies of a request that has no session: whoever reads it from them runs after `idempotency()`. */
  private readonly sessionCookie: string | undefined;

  /** @throws Error when the caller cannot be told apart from others, or `scope` returns neither text nor undefined. */
  constructor(
    private readonly req: IncomingMessage & WithSession,
    private readonly options: Pick<ResolvedOptions, 'scope' | 'callersOn'>,
  ) {
    this.sessionCookie = req.session === undefined && req.sessionID === undefined ? req.headers.cookie : undefined;
    const callers = this.callers();
    this.credentials = callers === undefined ? orUnreadable(credentialsOf, req) : undefined;
    this.first = callers ?? this.credentials;
    this.scope = this.scopeOf(this.first);
    if (this.scope === undefined && !options.scope) warnOfAnonymous(req);
  }

  /**
   * Returns true, and emits a process warning, when the request has a caller now that it did not have: authentication
   * or the session comes after `idempotency()`.
   */
  hasAppeared(): boolean {
    const { req, scope, first } = this;
    const byDefault = (): string | undefined => this.callers() ?? this.credentials;
    let change = callerChange(scope, () => this.scopeOf(byDefault()));
    // A connection that has closed has no address and no certificate any more: then only the default can tell.
    if (scope !== undefined && req.socket.destroyed) change &&= callerChange(first, byDefault);
    if (change === undefined) return false;
    warnOnce(
      'BINDONCE_MOUNTED_BEFORE_AUTHENTICATION',
      `idempotency: after its handler ran, a request ${change}, so its response is not kept and its duplicates get ` +
        '409. Mount idempotency() after sessions, authentication and what loads the user (a NestJS guard is too ' +
        'late: authenticate in an earlier middleware). If the handler itself signs callers in, pass `scope` to tell ' +
        'them apart.',
    );
    return true;
  }

  private callers(): string | undefined {
    return orUnreadable(textOfCallers, this.req, this.options.callersOn) ?? this.newSession();
  }

  /** Returns text if the request has got a session, which its cookie may have named. */
  private newSession(): string | undefined {
    const { req, sessionCookie } = this;
    if (sessionCookie === undefined) return undefined;
    const isSent = (): boolean => SIGNED_COOKIE.test(sessionCookie) || sessionOf(req, sessionCookie) !== undefined;
    const hasSession = typeof req.sessionID === 'string' ? isSent() : hasUnnamedSession(req, sessionCookie);
    return hasSession ? 'a session' : undefined;
  }

  private scopeOf(text: string | undefined): string | undefined {
    const { scope } = this.options;
    return scopeText(scope ? scope(this.req as unknown as Request, text) : text);
  }
}

/** Returns how a caller differs from the one before; undefined if it does not, or no one is there any more. */
function callerChange(before: string | undefined, read: () => string | undefined): string | undefined {
  try {
    const now = read();
    return now === undefined || now === before ? undefined : 'has another caller than before';
  } catch (error) {
    return `has a caller that cannot be read (${String(error)})`;
  }
}

/** Matches headers in which gateways name the caller: of AWS, Azure, Cloudflare, Google, Kong, oauth2-proxy, others. */
const NAMES_CALLER =
  /(?:^|-)(?:user(?!-agent)|username|userid|email|consumer|principal|uid)(?:-|$)|-(?:jwt|oidc)-|^x-credential-/;

/** Warns that callers who may be different share responses. */
function warnOfAnonymous({ headers }: IncomingMessage): void {
  const naming = Object.keys(headers).find(name => NAMES_CALLER.test(name));
  if (headers.cookie === undefined && naming === undefined) return;
  const what = naming === undefined ? 'cookies' : `the header ${naming}`;
  warnOnce(
    naming === undefined ? 'BINDONCE_COOKIE_ONLY' : 'BINDONCE_HEADER_ONLY',
    `idempotency: a request has ${what} and nothing that tells callers apart (req.auth, req.user, Authorization, ` +
      'X-Api-Key or a session), so all such callers share responses. Mount idempotency() after authentication, or ' +
      `pass \`scope\`${naming === undefined ? '' : `, for example \`scope: req => req.get('${naming}')\``}.`,
  );
}

/** Checks the answer of `scope`. @throws TypeError for anything but text or undefined. */
function scopeText(own: unknown): string | undefined {
  if (own === undefined || typeof own === 'string') return own;
  // A default that cannot be read throws its error.
  (Object(own) as { toJSON?: () => unknown }).toJSON?.();
  ignoreRejection(own);
  // Its kind alone: it may hold credentials.
  const kind = own === null ? 'null' : isPromise(own) ? 'a promise' : `a value of type ${typeof own}`;
  throw new TypeError(
    `idempotency: scope must return text or undefined, not ${kind}. Write an id as text, for example ` +
      'String(req.user.id), and make asynchronous lookups in an earlier middleware.',
  );
}

/**
 * Reads what tells callers apart. What takes its place if that fails throws when it is used as text: an application may
 * not use it; if it were undefined, a scope like `${caller}/${tenant}` would be the same for all.
 */
function orUnreadable<A extends unknown[]>(read: (...of: A) => string | undefined, ...of: A): string | undefined {
  try {
    return read(...of);
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return { toString: fail, toJSON: fail } as unknown as string;
  }
}

/** Properties within whose values an id is unique (`iss`: RFC 7519, section 4.1.2). */
const REALMS = [
  ...['iss', 'provider'],
  ...['tenantId', 'tenant_id', 'tenant', 'tid', 'orgId', 'org_id', 'organizationId', 'organization_id'],
];

/**
 * Returns the callers that authentication has left on a request, each under its place, as text that is the same for the
 * same callers only; undefined when there is no caller.
 * @throws Error when a caller cannot be told apart from others.
 */
function textOfCallers(req: IncomingMessage, callersOn: ResolvedOptions['callersOn']): string | undefined {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  if (!callersOn && auth === undefined && user === undefined) return undefined;
  const callers = callersOn
    ? { 'the caller of `claims`': callersOn(req as Request) }
    : // Of a token without a payload, the token itself: it is someone's, although it does not say whose.
      { 'req.auth': authOf(req) ?? (typeof auth === 'function' ? undefined : auth), 'req.user': user };
  const present = Object.entries(callers)
    .map(([place, caller]) => [place, callerParts(caller, place)] as const)
    .filter(([, parts]) => parts.length > 0);
  return present.length > 0 ? JSON.stringify(present) : undefined;
}

type Part = readonly [name: string, text: string];

/** Returns what tells a caller apart: each property of the lists that it has, and the text of that. */
function callerParts(caller: unknown, place: string): readonly Part[] {
  if (caller === undefined || caller === null || caller === false) return [];
  // Text or a number is itself an id.
  if (typeof caller !== 'object') return [['id', idText(caller, place)]];
  const ids = named(CALLER_IDS, caller, place);
  if (ids.length > 0) return [...ids, ...named(REALMS, caller, place)];
  return isSignedOut(caller) ? [] : refuseCaller(caller, place);
}

function named(names: readonly string[], caller: object, place: string): Part[] {
  const parts: Part[] = [];
  for (const name of names) {
    const value = (caller as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && value !== null) parts.push([name, idText(value, `${place}.${name}`)]);
  }
  return parts;
}

/**
 * Returns the text of an id: of text, a finite number, a bigint, bytes, or an object that writes itself as text, as ids
 * of databases do.
 * @throws Error for everything else: two different ids must not have the same text.
 */
function idText(id: unknown, place: string): string {
  if (typeof id === 'bigint' || Number.isFinite(id)) return String(id);
  // Decoded as text, all invalid UTF-8 would become the same character.
  const text: unknown = typeof id === 'object' ? (bytesIn(id)?.toString('hex') ?? writtenBy(id ?? {})) : id;
  return typeof text === 'string' && text !== '' ? text : refuseCaller(id, place);
}

function writtenBy(id: { readonly toJSON?: () => unknown; readonly toString?: () => unknown }): unknown {
  // ['a,b'] and ['a', 'b'] convert to the same text; Object.prototype.toString returns only the kind of an object.
  if (Array.isArray(id)) return undefined;
  const text = id.toJSON ? id.toJSON() : id.toString?.();
  return typeof text === 'string' && text.startsWith('[object ') ? undefined : text;
}

function refuseCaller(caller: unknown, place: string): never {
  ignoreRejection(caller);
  throw new Error(
    `idempotency: ${place} is set, but bindonce cannot read an id from it (text, a number or an object with ` +
      `toString, in one of ${CALLER_IDS.join(', ')}), so callers could share a response. Pass the \`scope\` option.`,
  );
}

/** Schemes whose Authorization header differs for each request, so that a retry would look like another caller. */
const SIGNED = /^(?:AWS4-|(?:Digest|OAuth|Hawk|HMAC[\w-]*|Signature|Negotiate|NTLM)(?:\s|$))/i;

/**
 * Returns the credentials of a request without a known caller: a hash of each of Authorization, `X-Api-Key` and session
 * id that it has. Hashes, because cache keys may be logged.
 * @throws Error for a scheme that signs each request, and for a session without an id.
 */
function credentialsOf(req: IncomingMessage & WithSession): string | undefined {
  const { authorization, 'x-api-key': apiKey, cookie } = req.headers;
  if (authorization !== undefined && SIGNED.test(authorization))
    throw new Error(
      `idempotency: the Authorization scheme "${authorization.slice(0, 40).split(' ', 1)[0]}" signs each request, so ` +
        'a retry would look like another caller. Mount idempotency() after authentication, or pass the `scope` ' +
        'option.',
    );
  const hashes: string[] = [];
  if (authorization !== undefined) hashes.push(`authorization:${sha256(authorization)}`);
  if (apiKey !== undefined) hashes.push(`x-api-key:${sha256(String(apiKey))}`);
  const session = cookie === undefined ? undefined : sessionOf(req, cookie);
  if (session !== undefined) hashes.push(`session:${sha256(session)}`);
  else if (cookie !== undefined && hasUnnamedSession(req, cookie))
    throw new Error(
      'idempotency: req.session has no id (req.sessionID) that tells its caller apart, so callers could share a ' +
        'response. Pass the `scope` option, for example `scope: req => req.session?.userId`.',
    );
  return hashes.length > 0 ? hashes.join(' ') : undefined;
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
function sessionOf({ sessionID, session }: WithSession, cookie: string): string | undefined {
  if (typeof sessionID !== 'string') return undefined;
  const isNew = typeof session?.cookie === 'object' && !cookie.includes(encodeURIComponent(sessionID));
  return isNew ? undefined : sessionID;
}

/**
 * Returns true for a session without an id that the client may have sent: one whose cookie is there, if that can be
 * known (a handler may have replaced what cookie-session read from it), else one with content.
 */
function hasUnnamedSession({ sessionID, session, sessionOptions }: WithSession, cookie: string): boolean {
  if (typeof sessionID === 'string') return false;
  if (sessionOptions) return parse(cookie)[sessionOptions.name ?? 'session'] !== undefined;
  return typeof session === 'object' && session !== null && Object.keys(session).length > 0;
}
