import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { authOf } from '../../principal/principal';
import { warnOnce } from '../../warnings/warn-once';
import { credentialsOf, watchForSession, warnOfAnonymous } from './credentials';
import { textOfCallers } from './known-caller';

/**
 * Returns the callers that authentication has left on a request, each under its place: `req.auth` and `req.user`, or
 * the caller of the application's `claims`. A place may hold what is no caller.
 */
export type CallersOn = (req: IncomingMessage) => Readonly<Record<string, unknown>>;

/** The options that tell callers apart. */
export interface CallerOptions {
  /** The `scope` option of the application. */
  readonly scope: ((req: Request, defaultScope: string | undefined) => string | undefined) | undefined;
  /** Undefined: `req.auth` and `req.user`. */
  readonly callersOn: CallersOn | undefined;
}

/** The sender of a request. */
export interface Caller {
  /** Requests of one scope may share a response; so may all requests without a scope. */
  readonly scope: string | undefined;
  /**
   * Returns true, and emits a process warning, when the request has a caller now that it did not have: authentication
   * or the session comes after `idempotency()`.
   */
  hasAppeared(): boolean;
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
  { scope, callersOn = whereMiddlewaresLeaveThem }: CallerOptions,
): Caller {
  return scope ? scopedCaller(req, callersOn, scope) : defaultCaller(req, callersOn);
}

/** Identifies a caller by what authentication knows of it, else by the credentials that it has sent. */
function defaultCaller(req: IncomingMessage, callersOn: CallersOn): Caller {
  const known = textOfCallers(callersOn(req));
  const session = watchForSession(req);
  const credentials = known === undefined ? credentialsOf(req) : undefined;
  const scope = known ?? credentials;
  if (scope === undefined) warnOfAnonymous(req);
  const now = (): string | undefined => textOfCallers(callersOn(req)) ?? (known === undefined ? session() : undefined);
  return { scope, hasAppeared: () => warnOf(callerChange(known, now)) };
}

/** Identifies a caller by the application's `scope`. */
function scopedCaller(req: IncomingMessage, callersOn: CallersOn, scope: NonNullable<CallerOptions['scope']>): Caller {
  const session = watchForSession(req);
  // Read now: a handler may take credentials out of the headers that it passes on.
  const credentials = orUnreadable(() => credentialsOf(req));
  const byDefault = (): string | undefined =>
    orUnreadable(() => textOfCallers(callersOn(req)) ?? session()) ?? credentials;
  const first = byDefault();
  const known = scopeText(scope(req as Request, first));
  if (known === undefined && (first !== undefined || req.headers.cookie !== undefined)) warnOfNoScope();
  const now = (): string | undefined => scopeText(scope(req as Request, byDefault()));
  const hasAppeared = (): boolean => {
    const change = callerChange(known, now);
    // A connection that has closed has no address and no certificate any more: then only the default can tell.
    const isUnreadable = known !== undefined && req.socket.destroyed;
    return warnOf(change === undefined || !isUnreadable ? change : callerChange(first, byDefault));
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

/** Warns of a caller that has appeared while the handler ran. @returns whether there is one. */
function warnOf(change: string | undefined): boolean {
  if (change === undefined) return false;
  warnOnce(
    'BINDONCE_MOUNTED_BEFORE_AUTHENTICATION',
    `idempotency: after its handler ran, a request ${change}, so its response is not kept and its duplicates get ` +
      '409. Mount idempotency() after sessions, authentication and what loads the user (a NestJS guard is too late: ' +
      'authenticate in an earlier middleware). If the handler itself signs callers in, pass `scope` to tell them ' +
      'apart.',
  );
  return true;
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

  [Symbol.toPrimitive](): never {
    throw this.error;
  }

  toJSON(): never {
    throw this.error;
  }
}

function orUnreadable(make: () => string | undefined): string | undefined {
  try {
    return make();
  } catch (error) {
    return new Unreadable(error) as unknown as string;
  }
}

const whereMiddlewaresLeaveThem: CallersOn = req => {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  // Of a token without a payload, the token itself: it is someone's, although it does not say whose.
  return { 'req.auth': authOf(req) ?? (typeof auth === 'function' ? undefined : auth), 'req.user': user };
};

/** Returns the callers by the `claims` of an application; the same function for the same `claims`. */
export function callersBy(claims: (req: Request) => unknown): CallersOn {
  const callers: CallersOn = known.get(claims) ?? (req => ({ 'the caller of `claims`': claims(req as Request) }));
  known.set(claims, callers);
  return callers;
}

/** Two guards with the same `claims` have equal options. */
const known = new WeakMap<object, CallersOn>();
