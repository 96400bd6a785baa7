import type { Source } from '../../problems/problem';
import type { Codec, CodecMember, ObjectCodec } from '../types/codec';
import { classNameOf, type Codecs, type DtoClass } from '../types/property-type';
import { instancesOf, propertiesOf } from './declarations';
import { checkJsonNames, namingErrors } from './declaration-error';
import type { PropertyKind, PropertySpec } from './property';

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

/**
 * Makes the codec of a dto class that is nested in another one, or used in a response.
 * @param tag a property that the class does not declare.
 */
export function objectCodec(Dto: DtoClass<unknown>, codecs: Codecs, tag?: CodecMember): ObjectCodec {
  const name = classNameOf(Dto);
  const codec = {
    kind: 'object',
    name: name || 'object',
    Dto,
    ...instancesOf(Dto),
    notNestable: notNestable(Dto),
    members: [],
    fields: [],
  } satisfies ObjectCodec;
  // Postponed, because a property can be of this very class.
  codecs.later(() => {
    const own = membersOf(Dto, codecs, ({ type }) => codecs.of(type));
    const tags = tag ? [tag] : [];
    checkJsonNames(name, [...tags, ...own]);
    const fields = [...tags, ...own.filter(({ spec }) => isField(spec.kind))];
    Object.assign(codec, { members: [...tags, ...own], fields });
  });
  return codec;
}

/** Returns true for a property that may be part of a nested object. */
const isField = (kind: PropertyKind): boolean => kind === 'field' || kind === 'jsonField';

/** Finds a property that binds only at the root of a request, such as a claim or a header. */
function notNestable(Dto: DtoClass<unknown>): string | undefined {
  const [name, spec] = [...propertiesOf(Dto)].find(([, { kind }]) => !isField(kind)) ?? [];
  return (
    spec &&
    `${classNameOf(Dto)}.${name}: ${spec.kind} binds only at the root of a request; ` +
      'declare the properties of a nested dto with field or a bare type.'
  );
}
