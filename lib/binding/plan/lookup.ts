import type { IncomingMessage } from 'node:http';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../body/content/media-type';
import type { ProblemLocation, Source } from '../../problems/problem';
import type { Member } from '../declaration/members';
import { isCollection, type Codec } from '../types/codec';
import type { Plan } from './plan';
import type { SourceProperty } from './source-properties';

type Sources = ReadonlyMap<Source, SourceProperty>;

/**
 * The source and name that a value is looked up under, and its failures reported under. An empty name is the whole JSON
 * body.
 */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly name: string;
  /** How the value is read there. */
  readonly codec?: Codec;
}

/**
 * Finds the value of a property in a source; undefined if there is no such property there.
 * @param where Default: the source in which this client would send it.
 */
export function lookupOf(
  property: string,
  plan: Plan,
  req: IncomingMessage,
  where?: ProblemLocation,
): Lookup | undefined {
  const { wholeBody } = plan;
  if (property === wholeBody?.member.property) {
    const { kind, member } = wholeBody;
    const whole: Lookup =
      kind === 'json' ? { source: kind, name: '', codec: member.codec } : { source: 'body', name: property };
    return where === undefined || where === whole.source ? whole : undefined;
  }
  const sources = plan.sourcesOf.get(property);
  const source = where ?? (sources && sourceIn(sources, plan, req));
  const sourceProperty = source && source !== 'body' ? sources?.get(source) : undefined;
  return source && sourceProperty && { source, name: sourceProperty.name, codec: sourceProperty.codec };
}

/** Returns the source in which this client would send a property; the last one if it could use none. */
function sourceIn(sources: Sources, plan: Plan, req: IncomingMessage): Source | undefined {
  const names = [...sources.keys()];
  const last = names.at(-1);
  // The last source of a claim, header or cookie is its own; the others are its fallback.
  if (last === 'claim' || last === 'header' || last === 'cookie') return last;
  if (names.includes('route') && isInPath(sources.get('route'), req)) return 'route';
  const preferred = preferredSource(plan, req);
  return names.includes(preferred) ? preferred : last;
}

function isInPath(property: SourceProperty | undefined, req: IncomingMessage): boolean {
  const { params = {} } = req as IncomingMessage & { readonly params?: object };
  return Object.entries(params).some(
    ([name, value]) => value !== undefined && name.toLowerCase() === property?.anyCase,
  );
}

function preferredSource(plan: Plan, req: IncomingMessage): Source {
  if (usuallyHasNoBody(req.method) || plan.wholeBody?.kind === 'text') return 'query';
  const kind = hasBody(req) ? bodyKindOf(mediaTypeOf(req)) : undefined;
  const sendsForm = kind === undefined ? !plan.body.json : kind === 'urlencoded' || kind === 'multipart';
  return sendsForm ? 'form' : 'json';
}

/** Returns true if a request without a body sends an empty list: a GET, whose whole body goes to a list. */
export const isEmptyWithoutBody = ({ codec }: Member, method?: string): boolean =>
  isCollection(codec) && usuallyHasNoBody(method);

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
