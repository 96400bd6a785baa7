import type { Codec, CodecMember, ObjectCodec, ScalarCodec } from '../types/codec';
import { classNameOf } from '../types/class-name';
import type { Codecs, DtoClass, ValueType } from '../types/property-type';
import { checkJsonNames } from './declaration-error';
import { isDto, propertiesOf } from './declarations';

/** The values of `oneOf`: an instance of the class of one branch, with the tag. */
export type OneOf<Tag extends string, B extends Readonly<Record<string, DtoClass<object>>>> = {
  [K in keyof B & string]: InstanceType<B[K]> & Record<Tag, K>;
}[keyof B & string];

/**
 * An object of one of several dto classes. A property that none of them declares, the tag, says which one:
 * `oneOf('kind', { card: Card, iban: Iban })` reads `{ "kind": "card", "number": "4111…" }` as a Card whose `kind` is
 * `'card'`.
 * @param tag the name of the property, which the naming policy changes in JSON as it does any other.
 * @param branches the classes by the value of the tag.
 * @throws TypeError for something else than dto classes, and for one that has the tag itself.
 */
export function oneOf<const Tag extends string, const B extends Readonly<Record<string, DtoClass<object>>>>(
  tag: Tag,
  branches: B,
): ValueType<OneOf<Tag, B>> {
  checkBranches(tag, branches);
  const classes = Object.entries(branches);
  const name = classes.map(([, Dto]) => classNameOf(Dto) || 'object').join(' or ');
  const tags = classes.map(([value]) => value);
  return {
    codec(codecs) {
      const member = tagged(tag, codecs.jsonName(tag), tags);
      const made = classes.map(([value, Dto]) => [value, branchOf(Dto, tag, value, codecs)] as const);
      return { kind: 'union', name, tag: member, branches: new Map(made) };
    },
  };
}

function checkBranches(tag: unknown, branches: unknown): void {
  const isObject = typeof branches === 'object' && branches !== null && Object.keys(branches).length > 0;
  if (typeof tag !== 'string' || tag === '' || tag === '__proto__' || !isObject)
    throw new TypeError(
      'oneOf takes the name of the property that says which class it is, and the classes by its values: ' +
        "oneOf('kind', { card: Card, iban: Iban })",
    );
  for (const [value, Dto] of Object.entries<unknown>({ ...branches })) {
    const where = `oneOf: ${JSON.stringify(value)}`;
    if (!isDto(Dto)) throw new TypeError(`${where} is no dto class, one with declared properties`);
    if (propertiesOf(Dto).has(tag) || tag in (new Dto() as object))
      throw new TypeError(
        `${where}: ${classNameOf(Dto)} has a property ${tag} itself; oneOf gives it one, remove its own`,
      );
  }
}

/** The tag, as the values of a property that has one of these texts. */
function tagged(property: string, jsonName: string, tags: readonly string[]): CodecMember & { codec: ScalarCodec } {
  const read = (value: unknown): unknown => (tags.includes(value as string) ? value : undefined);
  const list = tags.join(', ');
  const codec: ScalarCodec = {
    kind: 'scalar',
    name: `enum (${list})`,
    described: tags.length === 1 ? JSON.stringify(list) : `one of ${list}`,
    ...{ text: read, json: read },
    schema: { type: 'string', enum: tags },
  };
  return { property, jsonName, bindName: property, codec, required: true, jsonRequired: false, dontBind: [], spec: {} };
}

/** Makes the codec of a class with the tag, whose value is always the same there. */
function branchOf(Dto: DtoClass<object>, tag: string, value: string, codecs: Codecs): ObjectCodec {
  const own: Codec = codecs.of(Dto);
  if (own.kind !== 'object')
    throw new TypeError(`oneOf takes dto classes that are read by their properties; ${own.name} is read otherwise`);
  const branch = { ...own };
  // The properties of the class are known later, too.
  codecs.later(() => {
    const member = tagged(tag, codecs.jsonName(tag), [value]);
    const [members, fields] = [
      [member, ...own.members],
      [member, ...own.fields],
    ];
    checkJsonNames(own.name, members);
    Object.assign(branch, { members, fields });
  });
  return branch;
}
