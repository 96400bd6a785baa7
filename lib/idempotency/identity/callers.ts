import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ignoreRejection } from '../../basics/awaitable';
import { oneInProcess } from '../../basics/one-in-process';
import { authOf, CALLER_IDS, isSignedOut } from '../../principal/principal';
import { idText } from './id-text';

/**
 * Returns the callers that authentication has left on a request, each under its place: `req.auth` and `req.user`, or
 * the caller of the application's `claims`. A place may hold what is no caller.
 */
export type CallersOn = (req: IncomingMessage) => Readonly<Record<string, unknown>>;

/** Properties within whose values an id is unique (`iss`: RFC 7519, section 4.1.2). */
const ISSUERS = ['iss', 'provider'];
const TENANTS = ['tenantId', 'tenant_id', 'tenant', 'tid', 'orgId', 'org_id', 'organizationId', 'organization_id'];
const REALMS = [...ISSUERS, ...TENANTS];

const NO_CALLERS = {};

/**
 * Returns the callers as authentication middlewares leave them, each under its place. One function for all copies of
 * this module: options with it are equal.
 */
export const callersOn = oneInProcess<CallersOn>('callers', () => req => {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  if (auth === undefined && user === undefined) return NO_CALLERS;
  return { 'req.auth': authOf(req) ?? unread(auth), 'req.user': user };
});

/** Returns a token without a payload as it is: it is someone's, although it does not say whose. */
const unread = (auth: unknown): unknown =>
  typeof auth === 'object' && auth !== null && Object.values(auth).some(value => !isAbsentOrFlag(value))
    ? auth
    : undefined;

/** Returns the callers by the `claims` of an application; the same function for the same `claims`. */
export function callersBy(claims: (req: Request) => unknown): CallersOn {
  const callers: CallersOn = known.get(claims) ?? (req => ({ 'the caller of `claims`': claims(req as Request) }));
  known.set(claims, callers);
  return callers;
}

const known = oneInProcess('callers-by-claims', () => new WeakMap<object, CallersOn>());

/**
 * Returns the callers as text that is the same for the same callers only; undefined when there is no caller.
 * `undefined`, `null` and `false` are none; nor is an object without an id whose `isAuthenticated` is false, or that
 * says nothing but that its id is null.
 * @throws Error when a caller cannot be told apart from others.
 */
export function textOfCallers(callers: ReturnType<CallersOn>): string | undefined {
  const present: [place: string, parts: readonly Part[]][] = [];
  for (const [place, caller] of Object.entries(callers)) {
    const parts = isNobody(caller) ? [] : callerParts(caller, place);
    if (parts.length > 0) present.push([place, parts]);
  }
  return present.length > 0 ? JSON.stringify(present) : undefined;
}

type Part = readonly [name: string, text: string];

const isNobody = (caller: unknown): boolean => caller === undefined || caller === null || caller === false;

function callerParts(caller: unknown, place: string): Part[] {
  // Text or a number is itself an id.
  if (typeof caller !== 'object' || caller === null) return [['id', idText(caller) ?? refuseCaller(caller, place)]];
  const ids = named(CALLER_IDS, caller, place);
  if (ids.length > 0) return [...ids, ...named(REALMS, caller, place)];
  return isSignedOut(caller) || isSaidToBeNobody(caller) ? [] : refuseCaller(caller, place);
}

/**
 * Returns true for `{ userId: null, sessionId: null }`: so earlier versions of Clerk say that no one is signed in. Any
 * other value beside the null could be what tells two callers apart.
 */
function isSaidToBeNobody(caller: object): boolean {
  const entries = Object.entries(caller);
  return (
    entries.some(([name, value]) => value === null && CALLER_IDS.includes(name)) &&
    entries.every(
      ([name, value]) => SAYS_NOTHING.includes(name) || isAbsentOrFlag(value) || typeof value === 'function',
    )
  );
}

/** Properties of callers that say what kind of a token there would be (Clerk). */
const SAYS_NOTHING = ['tokenType'];

const isAbsentOrFlag = (value: unknown): boolean => value === undefined || value === null || typeof value === 'boolean';

function named(names: readonly string[], caller: object, place: string): Part[] {
  return names.flatMap((name): Part[] => {
    const value = (caller as Readonly<Record<string, unknown>>)[name];
    return value === undefined || value === null
      ? []
      : [[name, idText(value) ?? refuseCaller(value, `${place}.${name}`)]];
  });
}

function refuseCaller(caller: unknown, place: string): never {
  ignoreRejection(caller);
  throw new Error(
    `idempotency: ${place} is set, but bindonce cannot read an id from it (text, a number or an object with ` +
      `toString, in one of ${CALLER_IDS.join(', ')}), so callers could share a response. Pass the \`scope\` option.`,
  );
}
