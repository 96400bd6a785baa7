import type { IncomingMessage } from 'node:http';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../body/content/media-type';
import type { ProblemLocation } from '../../problems/problem';
import type { Member } from '../declaration/members';
import { isCollection } from '../types/codec';
import type { Plan } from './plan';
import type { SourceProperty, SourcesOfProperty } from './source-properties';

/** A property, and the source in which its value is looked up and its failures are reported. */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly found: SourceProperty;
}

/**
 * Finds a property in a source; undefined if there is no such property there.
 * @param where Default: the source in which this client would send it.
 */
export function lookupOf(
  property: string,
  plan: Plan,
  req: IncomingMessage,
  where?: ProblemLocation,
): Lookup | undefined {
  const sources = plan.sourcesOf.get(property);
  const source = where ?? (sources && sourceIn(sources, plan, req));
  const found = source && sources?.get(source);
  return found && { source, found };
}

/** Returns the source in which this client would send a property; the last one if it could use none. */
function sourceIn(sources: SourcesOfProperty, plan: Plan, req: IncomingMessage): ProblemLocation | undefined {
  const last = [...sources.keys()].at(-1);
  // The last source of a claim, header or cookie is its own; the others are its fallback.
  if (last === 'claim' || last === 'header' || last === 'cookie') return last;
  const { params = {} } = req as IncomingMessage & { readonly params?: Readonly<Record<string, unknown>> };
  const inPath = Object.keys(params).filter(name => params[name] !== undefined);
  if (inPath.some(name => name.toLowerCase() === sources.get('route')?.anyCase)) return 'route';
  const preferred = preferredSource(plan, req);
  return sources.has(preferred) ? preferred : last;
}

function preferredSource({ body, wholeBody }: Plan, req: IncomingMessage): ProblemLocation {
  if (usuallyHasNoBody(req.method) || wholeBody?.kind === 'text') return 'query';
  if (!hasBody(req)) return body.json ? 'json' : 'form';
  const kind = bodyKindOf(mediaTypeOf(req));
  return kind === 'urlencoded' || kind === 'multipart' ? 'form' : 'json';
}

/** Returns true if a request without a body sends an empty list: a GET, whose whole body goes to a list. */
export const isEmptyWithoutBody = ({ codec }: Member, method?: string): boolean =>
  isCollection(codec) && usuallyHasNoBody(method);

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
