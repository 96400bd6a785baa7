import type { Source } from '../../problems/problem';
import type { Member } from '../declaration/members';
import type { PropertyKind, PropertySpec } from '../declaration/property';
import { classNameOf } from '../types/class-name';
import type { DtoClass } from '../types/property-type';

/** The kinds of property that take a whole source. */
type WholeSourceKind = 'fromBody' | 'plainText' | 'fromForm' | 'fromQuery';

export type WholeSources = ReadonlySet<PropertyKind>;

/** The property that takes the whole body, as JSON (`fromBody`) or as text (`plainText`). */
export interface WholeBody {
  readonly kind: 'json' | 'text';
  readonly member: Member;
}

/** Finds the properties that take a whole source. @throws TypeError if two properties take the same one. */
export function wholeSourcesOf(Dto: DtoClass<unknown>, properties: ReadonlyMap<string, PropertySpec>): WholeSources {
  const name = classNameOf(Dto);
  const wholeSources: readonly WholeSourceKind[] = ['fromBody', 'plainText', 'fromForm', 'fromQuery'];
  const found = new Map<PropertyKind, string>();
  for (const wholeSource of wholeSources) {
    const [first, second] = [...properties]
      .filter(([, { kind }]) => kind === wholeSource)
      .map(([property]) => property);
    if (first !== undefined && second !== undefined)
      throw new TypeError(`${name}.${first} and ${name}.${second} are both ${wholeSource}; only one property can be.`);
    if (first !== undefined) found.set(wholeSource, first);
  }
  const [ofBody, ofText] = [found.get('fromBody'), found.get('plainText')];
  if (ofBody !== undefined && ofText !== undefined)
    throw new TypeError(
      `${name}.${ofBody} is fromBody and ${name}.${ofText} is plainText; the body can go to one property only.`,
    );
  return new Set(found.keys());
}

/** Finds the property that takes the whole body; undefined if each takes a part of it. */
export function wholeBodyOf(members: readonly Member[]): WholeBody | undefined {
  const member = members.find(({ spec }) => spec.kind === 'fromBody' || spec.kind === 'plainText');
  return member && { kind: member.spec.kind === 'fromBody' ? 'json' : 'text', member };
}

/**
 * Returns true if one property takes a whole source, so that no other binds from it. Flat query parameters still bind
 * to others.
 */
export function isTaken(source: Source, wholeSources: WholeSources): boolean {
  if (source === 'json') return wholeSources.has('fromBody') || wholeSources.has('plainText');
  return source === 'form' && wholeSources.has('fromForm');
}
