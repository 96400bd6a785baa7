import type { ProblemLocation, Source } from '../../problems/problem';
import type { Location } from '../reading/location';
import { mustBeSent } from './dto-schema';
import type { Member } from './members';

/**
 * Makes the function that says why no object of a class can come from a source; undefined if one can.
 * @param fields returns the members, once they are known: a property can be of the same class.
 */
export function blockedSources(
  className: string,
  fields: () => readonly Member[],
): (source: Source) => string | undefined {
  const reasons = new Map<Source, string | undefined>();
  return source => {
    if (reasons.has(source)) return reasons.get(source);
    // The answer to a property that requires the same class again.
    reasons.set(source, `${className} requires another ${className}, without end`);
    const [reason] = fields().flatMap(member => whyBlocked(member, source, className) ?? []);
    reasons.set(source, reason);
    return reason;
  };
}

/** Says why a source cannot supply a member that an object must have; undefined if it can. */
function whyBlocked(member: Member, source: Source, className: string): string | undefined {
  const { dontBind, codec, property, required } = member;
  if (!required) return undefined;
  if (!dontBind.includes(source)) return codec.takesNull ? undefined : codec.blockedIn?.(source);
  // Asked last: it calls the schemas of the application.
  return mustBeSent(member) ? `${className}.${property} does not bind from ${source}` : undefined;
}

/** Returns true if the source of the object must not bind to one of its properties. */
export function isBlocked(member: Member, { source }: Location): boolean {
  const dontBind: readonly ProblemLocation[] = member.dontBind;
  return dontBind.includes(source);
}
