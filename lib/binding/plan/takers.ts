import type { PropertyKind, PropertySpec, Source } from '../declaration/property';
import type { DtoClass } from '../types/property-type';

/** The kinds of property that take all of a source. */
type Taker = 'fromBody' | 'plainText' | 'fromForm' | 'fromQuery';

export type Takers = ReadonlySet<PropertyKind>;

/** SPEC: a whole source goes to one property at the most. */
export function takersOf(Dto: DtoClass<unknown>, properties: ReadonlyMap<string, PropertySpec>): Takers {
  const takers: readonly Taker[] = ['fromBody', 'plainText', 'fromForm', 'fromQuery'];
  const found = new Set<PropertyKind>();
  for (const taker of takers) {
    const [first, second] = [...properties].filter(([, { kind }]) => kind === taker);
    if (first && second)
      throw new TypeError(
        `${Dto.name}.${first[0]} and ${Dto.name}.${second[0]} are both ${taker}; one property at the most can take it all.`,
      );
    if (first) found.add(taker);
  }
  if (found.has('fromBody') && found.has('plainText'))
    throw new TypeError(`${Dto.name} has both fromBody and plainText; the body can go to one property only.`);
  return found;
}

/** True when all of a source goes to one property, and no part of it to any other. Flat query parameters still do. */
export function isTaken(source: Source, takers: Takers): boolean {
  if (source === 'json') return takers.has('fromBody') || takers.has('plainText');
  return source === 'form' && takers.has('fromForm');
}
