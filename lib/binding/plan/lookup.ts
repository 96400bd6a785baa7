import type { IncomingMessage } from 'node:http';
import { hasBody, kindOf, mediaTypeOf } from '../../body/media-type';
import type { ProblemLocation } from '../../problems/problem';
import type { Plan } from './plan';
import type { Source } from '../declaration/property';

/** Where a value is looked up: what a failure is reported under. The empty name of the JSON is all of it. */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly name: string;
}

/** Where this client would send the value of a property; undefined when there is no such property. */
export function lookupOf(property: string, plan: Plan, req: IncomingMessage): Lookup | undefined {
  if (property === plan.wholeBody?.property) return { source: 'json', name: '' };
  if (property === plan.content?.property) return { source: 'body', name: property };
  const slots = plan.sourcesOf.get(property);
  const preferred = preferredSource(plan, req);
  // A claim or a header stands behind the sources that it falls back to.
  const source = slots?.has(preferred) ? preferred : [...slots?.keys() ?? []].at(-1);
  return source && { source, name: slots?.get(source)?.name ?? property };
}

function preferredSource(plan: Plan, req: IncomingMessage): Source {
  if (isSafe(req.method) || plan.content) return 'query';
  const kind = hasBody(req) ? kindOf(mediaTypeOf(req)) : undefined;
  const sendsForm = kind === undefined ? !plan.body.json : kind === 'urlencoded' || kind === 'multipart';
  return sendsForm ? 'form' : 'json';
}

/** RFC 9110, section 9.2.1: such a request has no body, usually. */
export const isSafe = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD';
