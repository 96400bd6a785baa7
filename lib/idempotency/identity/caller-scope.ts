import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ignoreRejection, isPromise } from '../../basics/awaitable';
import { warnOnce } from '../../warnings/warn-once';
import { callerChange, callerChangeOn, type CallerText } from './caller-change';
import { credentialsOf, warnOfCookies, watchForSession, watchSession } from './credentials';
import { textOfCallers, type CallersOn } from './callers';

/** The options that tell callers apart. */
export interface CallerOptions {
  /** The `scope` option of the application. */
  readonly scope: ((req: Request, defaultScope: string | undefined) => string | undefined) | undefined;
  readonly callersOn: CallersOn;
}

/** The sender of a request. */
export interface Caller {
  /** Requests of one scope may share a response; so may all requests without a scope. */
  readonly scope: string | undefined;
  /**
   * Returns true, and emits a process warning, when the request has a caller now that it did not have: authentication
   * comes after `idempotency()`. Warns, too, when the session that told the caller apart has ended.
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
 * |                                                             | they send cookies, a warning is emitted           |
 *
 * With the application's `claims`, their caller takes the place of `req.auth` and `req.user`.
 * @throws Error when the caller cannot be told apart from others, or `scope` returns neither text nor undefined.
 */
export function identifyCaller(req: IncomingMessage, options: CallerOptions): Caller {
  return options.scope ? scopedCaller(req, options, options.scope) : defaultCaller(req, options);
}

/** Identifies a caller by what authentication knows of it, else by the credentials that it has sent. */
function defaultCaller(req: IncomingMessage, { callersOn }: CallerOptions): Caller {
  const callerText = (): string | undefined => textOfCallers(callersOn(req));
  const known = callerText();
  if (known !== undefined) return callerOf(req, known, callerText, () => undefined);
  const warnIfSessionEnded = watchSession(req);
  const appearedSession = watchForSession(req);
  const credentials = credentialsOf(req);
  if (credentials === undefined) warnOfCookies(req);
  const hasAppeared = (): boolean => {
    warnIfSessionEnded();
    return warnOf(callerChange(undefined, () => callerText() ?? appearedSession()));
  };
  return { scope: credentials, hasAppeared };
}

/** Identifies a caller by the application's `scope`. */
function scopedCaller(
  req: IncomingMessage,
  { callersOn }: CallerOptions,
  scope: NonNullable<CallerOptions['scope']>,
): Caller {
  // A handler may take credentials out of the headers that it passes on.
  const credentials = orFailing(() => credentialsOf(req));
  const appearedSession = watchForSession(req);
  const defaultScope = (): string | undefined =>
    orFailing(() => textOfCallers(callersOn(req)) ?? appearedSession() ?? credentials);
  const scopeFor = (byDefault: string | undefined): string | undefined => {
    const own: unknown = scope(req as Request, byDefault);
    if (own === undefined || typeof own === 'string') return own;
    ignoreRejection(own);
    throw notText(own);
  };
  const before = defaultScope();
  const known = scopeFor(before);
  if (known === undefined && (before !== undefined || req.headers.cookie !== undefined)) warnOfNoScope();
  return callerOf(
    req,
    known,
    () => scopeFor(defaultScope()),
    () => callerChange(before, defaultScope),
  );
}

/**
 * Makes a caller who is known when its request arrives.
 * @param whenClosed returns how the caller has changed, if its connection told who it is and is closed by now.
 */
function callerOf(
  req: IncomingMessage,
  known: string | undefined,
  callerText: CallerText,
  whenClosed: () => string | undefined,
): Caller {
  const { socket } = req;
  const change = (): string | undefined => callerChange(known, callerText);
  const hasAppeared = (): boolean => {
    const seen = change();
    return warnOf(seen === undefined || known === undefined ? seen : callerChangeOn(socket, req, change, whenClosed));
  };
  return { scope: known, hasAppeared };
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

/** Makes the error for a scope that is not text; that of a default that could not be made is its own. */
function notText(own: unknown): unknown {
  if (reasons.has(own as object)) return reasons.get(own as object);
  const kind =
    own === null
      ? 'null'
      : Array.isArray(own)
        ? 'an array'
        : isPromise(own)
          ? 'a promise'
          : `a value of type ${typeof own}`;
  return new TypeError(
    `idempotency: scope must return text or undefined, not ${kind}. Write an id as text, for example ` +
      'String(req.user.id), and make asynchronous lookups in an earlier middleware.',
  );
}

/**
 * Makes a text for the second argument of `scope`. An application may not use it, so an error is thrown only when it is
 * used as text.
 */
function orFailing(make: CallerText): string | undefined {
  try {
    return make();
  } catch (error) {
    return failingText(error);
  }
}

/**
 * Replaces a text that cannot be made: its use as text throws the error; a test whether there is one does not. If it
 * were undefined, a scope like `${caller}/${tenant}` would be the same text for all callers.
 */
function failingText(error: unknown): string {
  const fail = (): never => {
    throw error;
  };
  const traps = { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail };
  const failing = new Proxy({}, traps);
  reasons.set(failing, error);
  return failing as string;
}

/** The errors of the texts that cannot be made. */
const reasons = new WeakMap<object, unknown>();

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
