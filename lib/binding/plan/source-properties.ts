import type { Member } from '../declaration/members';
import type { ProblemLocation, Source } from '../../problems/problem';
import { takesFiles } from '../types/codec';

/** A property of the dto of a request, as one source supplies it. */
export interface SourceProperty extends Member {
  /** Name of the value in the source. */
  readonly name: string;
  /** The name in lower case. */
  readonly anyCase: string;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
}

/** The sources of one property, in binding order. That of `plainText` is the body. */
export type SourcesOfProperty = ReadonlyMap<ProblemLocation, SourceProperty>;

/** The sources of all properties, by their names. */
export type SourcesOf = ReadonlyMap<string, SourcesOfProperty>;

/** The sources of a bare type and of `field()`, in binding order. */
export const FIELD_SOURCES = ['json', 'form', 'route', 'query'] as const;

/** What an endpoint says about the sources of declarations that do not name one. */
export interface SourceDefaults {
  readonly fieldSources: readonly Source[];
  readonly fallback: boolean;
  /** What becomes of names that no property takes. */
  readonly unknownNames: 'ignore' | 'refuse';
}

/**
 * Returns the sources of a property, each with the name of the value in it.
 * @param taken the sources that one property takes from all others.
 */
export function sourcesOf(member: Member, taken: ReadonlySet<Source>, defaults: SourceDefaults): SourcesOfProperty {
  const { kind } = member.spec;
  const isRoot = kind === 'fromForm' || kind === 'fromQuery';
  const isWhole = isRoot || kind === 'fromBody' || kind === 'plainText';
  const canSupply = (source: ProblemLocation): boolean => {
    if (isWhole || source === 'body') return true;
    const isBlocked = member.dontBind.includes(source) || taken.has(source);
    return !isBlocked && (source === 'form' || !takesFiles(member.codec));
  };
  const under = (name: string): SourceProperty => ({ ...member, name, anyCase: name.toLowerCase(), isRoot });
  const names = namesOf(member, defaults).filter(([source]) => canSupply(source));
  return new Map(names.map(([source, name]) => [source, under(name)]));
}

/** Returns the names that a property has in its sources. */
function namesOf(
  { property, bindName, jsonName, spec }: Member,
  defaults: SourceDefaults,
): readonly (readonly [ProblemLocation, string])[] {
  const { kind, fallback = defaults.fallback, name = property } = spec;
  const anyOf = FIELD_SOURCES.map(source => [source, source === 'json' ? jsonName : bindName] as const);
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
    case 'fromBody':
      return [['json', '']];
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
    case 'plainText':
      return [['body', property]];
  }
}
