import type { PropertySpec, Source } from '../declaration/property';
import { isTaken, type WholeSources } from './whole-source';
import type { Codec } from '../types/codec';

/** One property as one source sees it. */
export interface SourceProperty {
  /** Name of the property on the dto, and its index among the properties. */
  readonly property: string;
  readonly index: number;
  /** Name that the source is asked for. */
  readonly name: string;
  readonly codec: Codec<unknown>;
  readonly required: boolean;
  /** The property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot?: boolean;
  /** The JSON body itself must have the value. */
  readonly jsonRequired?: boolean;
}

/** The sources of a property and the name that each is asked for. */
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
