import type { Source } from '../../problems/problem';
import { classNameOf } from '../types/class-name';
import type { Codec, CodecMember } from '../types/codec';
import type { Codecs, DtoClass } from '../types/property-type';
import { propertiesOf } from './declarations';
import { namingErrors } from './declaration-error';
import type { PropertySpec } from './property';

/**
 * A property of a dto as one endpoint reads it: its names, and the codec of its type. The name of its claim, header,
 * cookie or permission is in `spec`.
 */
export interface Member extends CodecMember {
  /** Its index among the properties. */
  readonly index: number;
  readonly spec: PropertySpec;
}

/** The sources that could supply a nested object, except JSON. */
const NOT_JSON: readonly Source[] = ['form', 'route', 'query', 'claim', 'header', 'cookie'];

/**
 * Makes the members of a class, in the order of their declaration.
 * @param codecFor returns the codec of a property, or throws an error that does not yet name the property.
 */
export function membersOf(
  Dto: DtoClass<unknown>,
  codecs: Codecs,
  codecFor: (spec: PropertySpec) => Codec,
): readonly Member[] {
  return [...propertiesOf(Dto)].map(([property, spec], index) =>
    namingErrors(`${classNameOf(Dto)}.${property}`, () => {
      const { required, jsonRequired = false, refusesNull = false } = spec;
      const { jsonPropertyName, bindFrom: bindName = property } = spec;
      const dontBind = spec.kind === 'jsonField' ? NOT_JSON : (spec.dontBind ?? []);
      const codec = codecFor(spec);
      const jsonName = jsonPropertyName ?? codecs.jsonName(property);
      return { property, index, codec, bindName, jsonName, required, refusesNull, jsonRequired, dontBind, spec };
    }),
  );
}
