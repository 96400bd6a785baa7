import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { headerLines } from '../../http/express';
import { sha256 } from '../../basics/bytes';
import { pathOf } from '../../problems/answer';
import { Facts } from '../leases/runs';
import { newToken, type RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import { pairsInOrder } from './canonical';

/**
 * Identifies a request: its cache key is the same as that of another if and only if all participating values are equal.
 *
 * The values are hashed as the JSON of one list, in which each has its place, and what may have any number of values
 * is a list of its own (the body comes last): no two lists look alike.
 *
 * By default everything takes part. With `whenKeyReused: 'reject'` a key belongs to the first request that has it: the
 * cache key is made of caller, origin and key alone, and the rest is the fingerprint in the token, which is compared.
 * @param body what takes part of its body.
 */
export function identify(
  req: IncomingMessage,
  key: string,
  scope: string | undefined,
  body: readonly unknown[],
  options: ResolvedOptions,
): RunId {
  const isCompared = options.whenKeyReused === 'reject';
  const { scheme, host } = originOf(req, options);
  const own: unknown[] = [isCompared ? 'key' : 'request', scope ?? null, scheme, host, key];
  // One list, if all is hashed together: each list takes time.
  const request = isCompared ? [] : own;
  addResource(request, req);
  request.push(
    options.additionalHeaders.map(name => [name, headerLines(name, req) ?? []]),
    ...body,
  );
  const keepUnknown = options.whenOwnerDies === 'refuse' ? options.cacheDuration : undefined;
  const facts = new Facts(req.method ?? '', pathOf(req) ?? '', keepUnknown, key, scope);
  return { cacheKey: hash(own), token: newToken(isCompared ? hash(request) : SAME), facts };
}

/** The fingerprint of all requests under one cache key, if the cache key tells them apart. */
const SAME = 'any';

const hash = (values: readonly unknown[]): string => sha256(JSON.stringify(values));

type Origin = Readonly<Record<'scheme' | 'host', string>>;

/** The origin of requests whose origin takes no part. It equals no other: those have at least a scheme. */
const NO_ORIGIN: Origin = { scheme: '', host: '' };

/** Hosts that name this machine, not a service: test clients, processes and proxies reach it by several ports. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/;

const HOST = /^(\[[^\]]*\]|[^:]+?)\.?(:\d*)?$/;

/** Returns the one spelling of a host: in lower case, without a trailing dot and the port that its scheme implies. */
export function canonicalHost(host: string, scheme: string): string {
  const lower = host.toLowerCase();
  const [, name = lower, port = ''] = HOST.exec(lower) ?? [];
  const isImplied = port === ':' || (scheme === 'http' && port === ':80') || (scheme === 'https' && port === ':443');
  return isImplied ? name : name + port;
}

type TrustsProxy = (address: string | undefined, hop: number) => boolean;

/** Returns scheme, host and port as the client used them; behind a proxy, as far as Express's `trust proxy` allows. */
function originOf(req: IncomingMessage, { ignoreHost }: ResolvedOptions): Origin {
  if (ignoreHost) return NO_ORIGIN;
  const { protocol = 'http', app } = req as Partial<Request>;
  const forwarded = headerLines('x-forwarded-host', req)?.[0]?.split(',', 1)[0]?.trim();
  const trusts = forwarded && (app?.get('trust proxy fn') as TrustsProxy | undefined);
  const trusted = trusts && trusts(req.socket.remoteAddress, 0);
  return originIn(trusted ? forwarded : (req.headers.host ?? ''), protocol);
}

/** The origin that was read last: most requests have the same one as the request before. */
let last = { sent: '', protocol: '', origin: NO_ORIGIN };

function originIn(sent: string, protocol: string): Origin {
  if (last.sent !== sent || last.protocol !== protocol) {
    const host = canonicalHost(sent, protocol);
    last = { sent, protocol, origin: LOOPBACK.test(host) ? NO_ORIGIN : { scheme: protocol, host } };
  }
  return last.origin;
}

/**
 * Adds method, path and query. The path is the whole one, as it was sent: it has the route values and every router's
 * mount point. If it is not what routers go by (an earlier middleware has rewritten it), that takes part, too.
 */
function addResource(values: unknown[], req: IncomingMessage): void {
  const { url = '' } = req;
  const { originalUrl = url, baseUrl = '' } = req as Partial<Request>;
  addUrl(values, req.method ?? '', originalUrl);
  if (baseUrl + url !== originalUrl) addUrl(values, 'rewritten', baseUrl + url);
}

function addUrl(values: unknown[], what: string, url: string): void {
  const mark = url.indexOf('?');
  const query = mark < 0 ? undefined : url.slice(mark + 1);
  const path = mark < 0 ? url : url.slice(0, mark);
  values.push(what, path, query === undefined ? [] : (pairsInOrder(query) ?? [query]));
}
