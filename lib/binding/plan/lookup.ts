import type { IncomingMessage } from 'node:http';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../body/content/media-type';
import type { ProblemLocation, Source } from '../../problems/problem';
import type { Member } from '../declaration/members';
import type { Codec } from '../types/codec';
import type { Plan } from './plan';

/**
 * The source and name that a value is looked up under, and its failures reported under. An empty name is the whole JSON
 * body.
 */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly name: string;
  /** How the value is read there. */
  readonly codec?: Codec<unknown>;
}

/** Finds where this client would send the value of a property; undefined if there is no such property. */
export function lookupOf(property: string, plan: Plan, req: IncomingMessage): Lookup | undefined {
  const { wholeBody } = plan;
  if (property === wholeBody?.member.property)
    return wholeBody.kind === 'json'
      ? { source: 'json', name: '', codec: wholeBody.member.codec }
      : { source: 'body', name: property };
  const sourceProperties = plan.sourcesOf.get(property);
  const preferred = preferredSource(plan, req);
  // The last source of a claim or header is the claim or header itself; the others are its fallback.
  const source = sourceProperties?.has(preferred) ? preferred : [...(sourceProperties?.keys() ?? [])].at(-1);
  const sourceProperty = source && sourceProperties?.get(source);
  return sourceProperty && { source, name: sourceProperty.name, codec: sourceProperty.codec };
}

/**
 * Translates the parts of a path below a value to the client's names: `items[0].unitPrice` may be `unit_price` in its
 * JSON.
 */
export function namesBelow(path: readonly string[], { source, codec }: Lookup): (string | number)[] {
  let here = codec;
  return path.map(part => {
    if (/^\d+$/.test(part)) {
      [here] = here?.parts?.() ?? [];
      return Number(part);
    }
    const member = here?.memberOf?.(part);
    here = member?.codec;
    return (source === 'json' ? member?.jsonName : member?.bindName) ?? part;
  });
}

function preferredSource(plan: Plan, req: IncomingMessage): Source {
  if (usuallyHasNoBody(req.method) || plan.wholeBody?.kind === 'text') return 'query';
  const kind = hasBody(req) ? bodyKindOf(mediaTypeOf(req)) : undefined;
  const sendsForm = kind === undefined ? !plan.body.json : kind === 'urlencoded' || kind === 'multipart';
  return sendsForm ? 'form' : 'json';
}

/** Returns true if a request without a body sends an empty list: a GET, whose whole body goes to a list. */
export const isEmptyWithoutBody = ({ codec }: Member, method?: string): boolean =>
  codec.shape === 'list' && usuallyHasNoBody(method);

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
