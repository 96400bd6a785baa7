import type { Member } from '../declaration/members';
import type { Source } from '../../problems/problem';
import { takesFiles } from '../types/codec';
import { isTaken, type WholeSources } from './whole-source';

/** A property of the dto of a request, as one source supplies it. */
export interface SourceProperty extends Member {
  /** Name of the value in the source. */
  readonly name: string;
  /** The name in lower case. */
  readonly anyCase: string;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
}

/** The sources of a bare type and of `field()`, in binding order. */
export const FIELD_SOURCES = ['json', 'form', 'route', 'query'] as const;

/** What an endpoint says about the sources of declarations that do not name one. */
export interface SourceDefaults {
  readonly fieldSources: readonly Source[];
  readonly fallback: boolean;
  /** What becomes of names that no property takes. */
  readonly unknownNames: 'ignore' | 'refuse';
}

/** Returns the sources of a property, each with the name of the value in it. */
export function sourcePropertiesOf(
  member: Member,
  wholeSources: WholeSources,
  defaults: SourceDefaults,
): Map<Source, SourceProperty> {
  const { kind } = member.spec;
  const isRoot = kind === 'fromForm' || kind === 'fromQuery';
  // Most properties have one name in all sources.
  const made = new Map<string, SourceProperty>();
  const under = (name: string): SourceProperty => {
    const one =
      made.get(name) ?? Object.assign({}, member, { name, anyCase: name.toLowerCase(), isRoot, dontBind: [] });
    made.set(name, one);
    return one;
  };
  const canSupply = (source: Source): boolean => {
    const isBlocked = member.dontBind.includes(source);
    const isTakenByOther = !isRoot && isTaken(source, wholeSources);
    const holdsItsValues = source === 'form' || !takesFiles(member.codec);
    return !isBlocked && !isTakenByOther && holdsItsValues;
  };
  return new Map(
    namesOf(member, defaults)
      .filter(([source]) => canSupply(source))
      .map(([source, name]) => [source, under(name)]),
  );
}

/** Returns the names that a property has in its sources, in binding order. */
function namesOf({ property, bindName, jsonName, spec }: Member, defaults: SourceDefaults): [Source, string][] {
  const { kind, fallback = defaults.fallback, name = property } = spec;
  const anyOf: [Source, string][] = [
    ['json', jsonName],
    ['form', bindName],
    ['route', bindName],
    ['query', bindName],
  ];
  const others = fallback ? anyOf : [];
  switch (kind) {
    case 'field':
      return anyOf.filter(([source]) => defaults.fieldSources.includes(source));
    case 'jsonField':
      return [['json', jsonName]];
    case 'formField':
      return [['form', bindName]];
    case 'queryParam':
      return [['query', bindName]];
    case 'routeParam':
      return [['route', bindName]];
    case 'fromForm':
      return [['form', '']];
    case 'fromQuery':
      return [['query', '']];
    case 'fromClaim':
      return [...others, ['claim', name]];
    case 'fromHeader':
      return [...others, ['header', name]];
    case 'fromCookie':
      return [...others, ['cookie', name]];
    case 'hasPermission':
      return [['permission', name]];
    case 'fromBody':
    case 'plainText':
      return [];
  }
}
