import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { bytesOfView } from '../../basics/bytes';
import { authOf, CALLER_IDS, isSignedOut } from '../../principal/principal';
import { warnOnce } from '../../warnings/warn-once';
import type { ResolvedOptions } from '../options/resolved-options';
import { credentialsOf, watchForSession, warnOfAnonymous } from './credentials';

/** The sender of a request. */
export interface Caller {
  /** Requests of one scope may share a response; so may all requests without a scope. */
  readonly scope: string | undefined;
  /**
   * Returns true, and emits a process warning, when the request has a caller now that it did not have: authentication
   * or the session comes after `idempotency()`.
   */
  readonly hasAppeared: () => boolean;
}

/**
 * Finds out who sent a request. Unless the `scope` option does, everything that is present takes part:
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
 * @throws Error when the caller cannot be told apart from others, or `scope` returns neither text nor undefined.
 */
export function identifyCaller(
  req: IncomingMessage,
  { scope, callersOn }: Pick<ResolvedOptions, 'scope' | 'callersOn'>,
): Caller {
  const newSession = watchForSession(req);
  const callersNow = (): string | undefined => orUnreadable(() => textOfCallers(req, callersOn) ?? newSession());
  const callers = callersNow();
  // Read now: a handler may take credentials out of the headers that it passes on.
  const credentials = callers === undefined ? orUnreadable(() => credentialsOf(req)) : undefined;
  const byDefault = (): string | undefined => callersNow() ?? credentials;
  const scopeOf = (text: string | undefined): string | undefined =>
    scopeText(scope ? scope(req as Request, text) : text);
  const first = callers ?? credentials;
  const known = scopeOf(first);
  if (known === undefined && !scope) warnOfAnonymous(req);
  else if (known === undefined && (first ?? req.headers.cookie) !== undefined) warnOfNoScope();
  const hasAppeared = (): boolean => {
    const change = callerChange(known, () => scopeOf(byDefault()));
    // A connection that has closed has no address and no certificate any more: then only the default can tell.
    const isUnreadable = known !== undefined && req.socket.destroyed && !callerChange(first, byDefault);
    if (change === undefined || isUnreadable) return false;
    warnOfNewCaller(change);
    return true;
  };
  return { scope: known, hasAppeared };
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

/** Warns of a caller that has appeared while the handler ran. */
function warnOfNewCaller(change: string): void {
  warnOnce(
    'BINDONCE_MOUNTED_BEFORE_AUTHENTICATION',
    `idempotency: after its handler ran, a request ${change}, so its response is not kept and its duplicates get ` +
      '409. Mount idempotency() after sessions, authentication and what loads the user (a NestJS guard is too late: ' +
      'authenticate in an earlier middleware). If the handler itself signs callers in, pass `scope` to tell them ' +
      'apart.',
  );
}

/** Warns of a `scope` that finds nothing where callers can be told apart, such as one that reads another cookie. */
function warnOfNoScope(): void {
  warnOnce(
    'BINDONCE_NO_SCOPE',
    'idempotency: scope returned undefined for a request that has a caller, credentials or cookies, so it shares ' +
      'responses with all requests for which scope does so. Return what tells callers apart; where all callers may ' +
      "share responses, return a constant such as 'everyone'.",
  );
}

/** Checks the answer of `scope`. @throws TypeError for anything but text or undefined. */
function scopeText(own: unknown): string | undefined {
  if (own === undefined || typeof own === 'string') return own;
  if (own instanceof Unreadable) throw own.error;
  const isPromise = own instanceof Promise;
  // Nobody else looks at it: a rejection would end the process.
  if (isPromise) own.catch(() => undefined);
  const kind =
    own === null ? 'null' : Array.isArray(own) ? 'an array' : isPromise ? 'a promise' : `a value of type ${typeof own}`;
  throw new TypeError(
    `idempotency: scope must return text or undefined, not ${kind}. Write an id as text, for example ` +
      'String(req.user.id), and make asynchronous lookups in an earlier middleware.',
  );
}

/**
 * Takes the place of a default scope that cannot be read. An application may not use it, so an error is thrown only
 * when it is used as text: if it were undefined, a scope like `${caller}/${tenant}` would be the same for all callers.
 */
class Unreadable {
  constructor(readonly error: unknown) {}

  readonly toJSON = (): never => {
    throw this.error;
  };

  readonly [Symbol.toPrimitive] = this.toJSON;
}

function orUnreadable(make: () => string | undefined): string | undefined {
  try {
    return make();
  } catch (error) {
    return new Unreadable(error) as unknown as string;
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
  const callers = callersOn
    ? { 'the caller of `claims`': callersOn(req as Request) }
    : // Of a token without a payload, the token itself: it is someone's, although it does not say whose.
      { 'req.auth': authOf(req) ?? (typeof auth === 'function' ? undefined : auth), 'req.user': user };
  const present = Object.entries(callers)
    .map(([place, caller]) => [place, callerParts(caller, place)] as const)
    .filter(([, parts]) => parts.length > 0);
  return present.length > 0 ? JSON.stringify(present) : undefined;
}

/** One property of a caller, and its text. */
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
 * Returns the text of an id: of text, a finite number, a bigint, bytes, or an object that converts itself to text.
 * @throws Error for everything else: two different ids must not have the same text.
 */
function idText(id: unknown, place: string): string {
  if (typeof id === 'bigint' || Number.isFinite(id)) return String(id);
  const text = typeof id === 'object' && id !== null ? writtenBy(id) : id;
  return typeof text === 'string' && text !== '' ? text : refuseCaller(id, place);
}

/** Returns what an object, such as the id of a database, makes of itself. */
function writtenBy(id: { readonly toJSON?: () => unknown; readonly toString?: () => unknown }): unknown {
  // Decoded as text, all invalid UTF-8 would become the same character.
  if (ArrayBuffer.isView(id)) return bytesOfView(id).toString('hex');
  // ['a,b'] and ['a', 'b'] convert to the same text.
  if (Array.isArray(id)) return undefined;
  const text = id.toJSON ? id.toJSON() : id.toString?.();
  // Object.prototype.toString returns only the kind of an object.
  return typeof text === 'string' && text.startsWith('[object ') ? undefined : text;
}

function refuseCaller(caller: unknown, place: string): never {
  // Nobody else looks at a promise here: a rejection would end the process.
  if (caller instanceof Promise) caller.catch(() => undefined);
  throw new Error(
    `idempotency: ${place} is set, but bindonce cannot read an id from it (text, a number or an object with ` +
      `toString, in one of ${CALLER_IDS.join(', ')}), so callers could share a response. Pass the \`scope\` option.`,
  );
}
