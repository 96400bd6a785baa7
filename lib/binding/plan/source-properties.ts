import type { PropertySpec, Source } from '../declaration/property';
import { isTaken, type WholeSources } from './whole-source';
import type { Codec } from '../types/codec';

/** A property as one source supplies it. */
export interface SourceProperty {
  /** Name of the property on the dto, and its index among the properties. */
  readonly property: string;
  readonly index: number;
  /** Name of the value in the source. */
  readonly name: string;
  readonly codec: Codec<unknown>;
  readonly required: boolean;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot?: boolean;
  /** True if the JSON body itself must contain the value. */
  readonly jsonRequired?: boolean;
}

/** Returns the sources of a property, each with the name of the value in it. */
export function sourcePropertiesOf(
  sourceProperty: SourceProperty,
  spec: PropertySpec,
  jsonName: () => string,
  wholeSources: WholeSources,
): Map<Source, SourceProperty> {
  const {
    jsonPropertyName,
    bindFrom = sourceProperty.property,
    name = sourceProperty.property,
    dontBind = [],
    jsonRequired,
  } = spec;
  const anyOf = (): [Source, string][] => [
    ['json', jsonPropertyName ?? jsonName()],
    ['form', bindFrom],
    ['route', bindFrom],
    ['query', bindFrom],
  ];
  const fallback = (): [Source, string][] => (spec.fallback ? anyOf() : []);
  const names = ((): [Source, string][] => {
    switch (spec.kind) {
      case 'field':
        return anyOf();
      case 'formField':
        return [['form', bindFrom]];
      case 'queryParam':
        return [['query', bindFrom]];
      case 'routeParam':
        return [['route', bindFrom]];
      case 'fromForm':
        return [['form', '']];
      case 'fromQuery':
        return [['query', '']];
      case 'fromClaim':
        return [...fallback(), ['claim', name]];
      case 'fromHeader':
        return [...fallback(), ['header', name]];
      case 'fromCookie':
        return [...fallback(), ['cookie', name]];
      case 'hasPermission':
        return [['permission', name]];
      case 'fromBody':
      case 'plainText':
        return [];
    }
  })();
  const isRoot = spec.kind === 'fromForm' || spec.kind === 'fromQuery';
  return new Map(
    names
      .filter(
        ([source]) =>
          !dontBind.includes(source) &&
          !(isTaken(source, wholeSources) && !isRoot) &&
          (sourceProperty.codec.shape !== 'file' || source === 'form'),
      )
      .map(([source, lookup]) => [
        source,
        { ...sourceProperty, name: lookup, isRoot, ...(jsonRequired && { jsonRequired }) },
      ]),
  );
}
