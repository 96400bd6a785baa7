import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ignoreRejection, isPromise } from '../../basics/awaitable';
import { warnOnce } from '../../warnings/warn-once';
import { credentialsOf, warnOfCookies, watchSession } from './credentials';
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
 * Finds out who sent a request.
 * @throws Error when the caller cannot be told apart from others, or `scope` returns neither text nor undefined.
 */
export function identifyCaller(req: IncomingMessage, options: CallerOptions): Caller {
  const known = knownCaller(req, options);
  const warnIfSessionEnded = known === undefined && !options.scope ? watchSession(req) : undefined;
  const appeared = (): boolean => {
    warnIfSessionEnded?.();
    return hasAppeared(req, options, known);
  };
  return { scope: known ?? anonymousScope(req, options), hasAppeared: appeared };
}

/** Returns the caller that authentication, or the application's `scope`, knows. */
function knownCaller(req: IncomingMessage, { scope, callersOn }: CallerOptions): string | undefined {
  if (!scope) return textOfCallers(callersOn(req));
  const own: unknown = scope(req as Request, defaultScope(req, callersOn));
  if (own === undefined || typeof own === 'string') return own;
  ignoreRejection(own);
  throw notText(own);
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

function anonymousScope(req: IncomingMessage, { scope }: CallerOptions): string | undefined {
  if (scope) return undefined;
  const credentials = credentialsOf(req);
  if (credentials === undefined) warnOfCookies(req);
  return credentials;
}

/**
 * Returns the second argument of `scope`. An application may not use it, so an error is thrown only when it is used.
 */
function defaultScope(req: IncomingMessage, callersOn: CallersOn): string | undefined {
  try {
    return textOfCallers(callersOn(req)) ?? credentialsOf(req);
  } catch (error) {
    return failingText(error);
  }
}

/**
 * Replaces a text that cannot be made: any use of it throws the error. If it were undefined, a scope like
 * `${caller}/${tenant}` would be the same text for all callers.
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

function hasAppeared(req: IncomingMessage, options: CallerOptions, before: string | undefined): boolean {
  const change = changeSince(before, req, options);
  if (change === undefined) return false;
  warnOnce(
    'BINDONCE_MOUNTED_BEFORE_AUTHENTICATION',
    `idempotency: after its handler ran, a request ${change}, so its response is not kept and its duplicates get ` +
      '409. Mount idempotency() after authentication and what loads the user (a NestJS guard is too late: ' +
      'authenticate in an earlier middleware). If the handler itself signs callers in, pass `scope` to tell them ' +
      'apart.',
  );
  return true;
}

function changeSince(before: string | undefined, req: IncomingMessage, options: CallerOptions): string | undefined {
  try {
    const now = knownCaller(req, options);
    return now === undefined || now === before ? undefined : 'has another caller than before';
  } catch (error) {
    return `has a caller that cannot be read (${String(error)})`;
  }
}
