import type { Member } from '../declaration/members';
import type { PropertySpec, Source } from '../declaration/property';
import { isTaken, type WholeSources } from './whole-source';

/** A property of the dto of a request, as one source supplies it; `name` is the name of the value in the source. */
export interface SourceProperty extends Member {
  /** The name in lower case. */
  readonly anyCase: string;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
}

/** Returns the sources of a property, each with the name of the value in it. */
export function sourcePropertiesOf(
  member: Member,
  spec: PropertySpec,
  wholeSources: WholeSources,
): Map<Source, SourceProperty> {
  const isRoot = spec.kind === 'fromForm' || spec.kind === 'fromQuery';
  // Most properties have one name in all sources.
  const made = new Map<string, SourceProperty>();
  const under = (name: string): SourceProperty => {
    const one = made.get(name) ?? { ...member, name, anyCase: name.toLowerCase(), isRoot, dontBind: [] };
    made.set(name, one);
    return one;
  };
  return new Map(
    namesOf(member, spec)
      .filter(
        ([source]) =>
          !member.dontBind.includes(source) &&
          !(isTaken(source, wholeSources) && !isRoot) &&
          (member.codec.shape !== 'file' || source === 'form'),
      )
      .map(([source, name]) => [source, under(name)]),
  );
}

/** Returns the names that a property has in its sources, in binding order. */
function namesOf({ property, name, jsonName }: Member, spec: PropertySpec): [Source, string][] {
  const { kind, fallback, name: ownName = property } = spec;
  const anyOf: [Source, string][] = [
    ['json', jsonName],
    ['form', name],
    ['route', name],
    ['query', name],
  ];
  const others = fallback ? anyOf : [];
  switch (kind) {
    case 'field':
      return anyOf;
    case 'formField':
      return [['form', name]];
    case 'queryParam':
      return [['query', name]];
    case 'routeParam':
      return [['route', name]];
    case 'fromForm':
      return [['form', '']];
    case 'fromQuery':
      return [['query', '']];
    case 'fromClaim':
      return [...others, ['claim', ownName]];
    case 'fromHeader':
      return [...others, ['header', ownName]];
    case 'fromCookie':
      return [...others, ['cookie', ownName]];
    case 'hasPermission':
      return [['permission', ownName]];
    case 'fromBody':
    case 'plainText':
      return [];
  }
}
