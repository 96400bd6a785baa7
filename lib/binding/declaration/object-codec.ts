import { classCheckOf } from '../types/class-check';
import { classNameOf } from '../types/class-name';
import type { CodecMember, ObjectCodec } from '../types/codec';
import type { Codecs, DtoClass } from '../types/property-type';
import { completion, instancesOf, propertiesOf } from './declarations';
import { checkJsonNames } from './declaration-error';
import { membersOf } from './members';
import type { PropertyKind } from './property';

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
    create: instancesOf<object>(Dto as DtoClass<object>),
    complete: completion(Dto),
    check: classCheckOf(Dto),
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
