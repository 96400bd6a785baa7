import type { IncomingMessage } from 'node:http';
import { hasBody, kindOf, mediaTypeOf } from '../../body/media-type';
import type { ProblemLocation } from '../../problems/problem';
import type { Plan } from './plan';
import type { Codec } from '../types/codec';
import type { Source } from '../declaration/property';

/** Where a value is looked up: what a failure is reported under. The empty name of the JSON is all of it. */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly name: string;
  /** How the value is read there. */
  readonly codec?: Codec<unknown>;
}

/** Where this client would send the value of a property; undefined when there is no such property. */
export function lookupOf(property: string, plan: Plan, req: IncomingMessage): Lookup | undefined {
  if (property === plan.wholeBody?.property) return { source: 'json', name: '', codec: plan.wholeBody.codec };
  if (property === plan.content?.property) return { source: 'body', name: property };
  const sourceProperties = plan.sourcesOf.get(property);
  const preferred = preferredSource(plan, req);
  // A claim or a header stands behind the sources that it falls back to.
  const source = sourceProperties?.has(preferred) ? preferred : [...(sourceProperties?.keys() ?? [])].at(-1);
  const sourceProperty = source && sourceProperties?.get(source);
  return sourceProperty && { source, name: sourceProperty.name, codec: sourceProperty.codec };
}

/** What a client calls the parts of a path below a value: `items[0].unitPrice` may be `unit_price` in its JSON. */
export function namesBelow(path: readonly string[], { source, codec }: Lookup): (string | number)[] {
  let here = codec;
  return path.map(part => {
    if (/^\d+$/.test(part)) {
      [here] = here?.parts?.() ?? [];
      return Number(part);
    }
    const member = here?.memberOf?.(part);
    here = member?.codec;
    return (source === 'json' ? member?.jsonName : member?.name) ?? part;
  });
}

function preferredSource(plan: Plan, req: IncomingMessage): Source {
  if (isSafe(req.method) || plan.content) return 'query';
  const kind = hasBody(req) ? kindOf(mediaTypeOf(req)) : undefined;
  const sendsForm = kind === undefined ? !plan.body.json : kind === 'urlencoded' || kind === 'multipart';
  return sendsForm ? 'form' : 'json';
}

/** RFC 9110, section 9.2.1: such a request has no body, usually. */
export const isSafe = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD';
