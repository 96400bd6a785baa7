import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerLines } from '../../http/express';
import { sha256 } from '../../basics/bytes';
import { bodyParts, type BodyOptions } from './body-parts';
import { identifyCaller, type Caller, type CallerOptions } from './caller';
import { pairsInOrder } from './name-order';

/** Tells a request apart from all others. */
interface Identity {
  /** The key that the lease and the response are stored under. */
  readonly cacheKey: string;
  /** Tells requests under one cache key apart; constant unless `whenKeyReused` is `'reject'`. */
  readonly fingerprint: string;
  readonly caller: Caller;
}

/** The options that decide what takes part in the cache key. */
interface IdentityOptions extends CallerOptions, BodyOptions {
  /** In lower case and in order: two processes may name them otherwise. */
  readonly additionalHeaders: readonly string[];
  readonly ignoreHost: boolean;
  readonly ignoreRequestBody: boolean;
  readonly whenKeyReused: 'run' | 'reject';
}

/** The parts of an Express request that name its resource. */
interface Routed {
  readonly originalUrl?: string;
  /** The mount points of the routers that the request has come through. */
  readonly baseUrl?: string;
  readonly protocol?: string;
  readonly app?: {
    get(setting: 'trust proxy fn'): ((address: string | undefined, hop: number) => boolean) | undefined;
  };
}

/**
 * Computes the cache key, which is the same for two requests if and only if all participating values are equal.
 *
 * The values are hashed as the JSON of one list, in which each has its place, and what may have any number of values
 * is a list of its own (the body comes last): no two lists look alike.
 *
 * By default everything takes part. With `whenKeyReused: 'reject'` a key belongs to the first request that has it: the
 * cache key is made of caller, origin and key alone, and the rest is the fingerprint, which is compared.
 */
export async function identify(
  req: IncomingMessage,
  res: ServerResponse,
  key: string,
  options: IdentityOptions,
): Promise<Identity> {
  const caller = identifyCaller(req, options);
  const owner = [caller.scope ?? null, ...originOf(req, options), key];
  const head = [...resourceOf(req), chosenHeaders(req, options.additionalHeaders)];
  const request = options.ignoreRequestBody ? head : [...head, ...(await bodyParts(req, res, options))];
  return options.whenKeyReused === 'run'
    ? { caller, cacheKey: hash(['request', ...owner, ...request]), fingerprint: SAME }
    : { caller, cacheKey: hash(['key', ...owner]), fingerprint: hash(request) };
}

/** The fingerprint of all requests under one cache key, if the cache key tells them apart. */
const SAME = 'any';

const hash = (values: readonly unknown[]): string => sha256(JSON.stringify(values));

/** The origin of requests whose origin takes no part. It equals no other: those have at least a scheme. */
const NO_ORIGIN: readonly [scheme: string, host: string] = ['', ''];

/** Hosts that name this machine, not a service: test clients, processes and proxies reach it by several ports. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/;

const HOST = /^(\[[^\]]*\]|[^:]+?)\.?(:\d*)?$/;
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', ':80'],
  ['https', ':443'],
]);

/** Returns the one spelling of a host: in lower case, without a trailing dot and the port that its scheme implies. */
export function canonicalHost(host: string, scheme: string): string {
  const lower = host.toLowerCase();
  const [, name = lower, port = ''] = HOST.exec(lower) ?? [];
  return port === ':' || port === DEFAULT_PORTS.get(scheme) ? name : name + port;
}

/** Returns scheme, host and port as the client used them; behind a proxy, as far as Express's `trust proxy` allows. */
function originOf(req: IncomingMessage, { ignoreHost }: IdentityOptions): readonly [scheme: string, host: string] {
  if (ignoreHost) return NO_ORIGIN;
  const { protocol = 'http', app } = req as Routed;
  const forwarded = headerLines('x-forwarded-host', req)?.[0]?.split(',', 1)[0]?.trim();
  const trusted = forwarded !== undefined && app?.get('trust proxy fn')?.(req.socket.remoteAddress, 0) === true;
  const host = canonicalHost(trusted ? forwarded : (req.headers.host ?? ''), protocol);
  return LOOPBACK.test(host) ? NO_ORIGIN : [protocol, host];
}

/**
 * Returns method, path and query. The path is the whole one, as it was sent: it has the route values and every router's
 * mount point. If it is not what routers go by (an earlier middleware has rewritten it), that takes part, too.
 */
function resourceOf(req: IncomingMessage): readonly unknown[] {
  const { url = '' } = req;
  const { originalUrl = url, baseUrl = '' } = req as Routed;
  const sent = [req.method ?? '', ...partsOfUrl(originalUrl)];
  return baseUrl + url === originalUrl ? sent : [...sent, 'rewritten', ...partsOfUrl(baseUrl + url)];
}

function partsOfUrl(url: string): readonly unknown[] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, []] : [url.slice(0, mark), queryParts(url.slice(mark + 1))];
}

/** Most names of a query whose order takes no part: a parser may ignore those beyond (qs takes 1,000). */
const MOST_NAMES = 1_000;

function queryParts(query: string): readonly string[] {
  if (query === '') return [];
  return query.split('&', MOST_NAMES + 1).length > MOST_NAMES ? [query] : pairsInOrder(query);
}

function chosenHeaders(req: IncomingMessage, names: readonly string[]): [name: string, lines: readonly string[]][] {
  return names.map(name => {
    const lines: readonly unknown[] = headerLines(name, req) ?? [];
    return [name, lines.map(line => (['string', 'number'].includes(typeof line) ? String(line) : refuseHeader(name)))];
  });
}

/** Refuses a header that an earlier middleware has replaced by something that two different requests could share. */
function refuseHeader(name: string): never {
  throw new Error(
    `idempotency: req.headers[${JSON.stringify(name)}] is neither text nor a number, so requests that differ in it ` +
      'cannot be told apart. Set it to text.',
  );
}
