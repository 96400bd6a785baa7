import type { CodecMember, ObjectCodec } from '../types/codec';
import { classNameOf, type DtoClass, type ValueType } from '../types/property-type';
import { isDto, propertiesOf } from './declarations';
import { objectCodec } from './members';

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
  const classes = Object.entries<DtoClass<object>>(branches);
  const name = classes.map(([, Dto]) => classNameOf(Dto) || 'object').join(' or ');
  return {
    codec(codecs) {
      const jsonName = codecs.jsonName(tag);
      const branchOf = (Dto: DtoClass<object>, value: string): ObjectCodec => {
        const { kind, name: read } = codecs.of(Dto);
        if (kind === 'object') return objectCodec(Dto, codecs, tagged(tag, jsonName, [value]));
        throw new TypeError(`oneOf takes dto classes that are read by their properties; ${read} is read otherwise`);
      };
      const made = classes.map(([value, Dto]) => [value, branchOf(Dto, value)] as const);
      return { kind: 'union', name, tag: tagged(tag, jsonName, Object.keys(branches)), branches: new Map(made) };
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
    const what = `${where}: ${classNameOf(Dto)} has a property ${tag} itself`;
    if (propertiesOf(Dto).has(tag) || tag in (new Dto() as object))
      throw new TypeError(`${what}; oneOf gives it one, remove its own`);
  }
}

/** The tag: a property that has one of these texts. */
function tagged(property: string, jsonName: string, tags: readonly string[]): CodecMember {
  const read = (value: unknown): unknown => (tags.includes(value as string) ? value : undefined);
  const list = tags.join(', ');
  const described = tags.length === 1 ? JSON.stringify(list) : `one of ${list}`;
  const schema = { type: 'string', enum: tags };
  return {
    ...{ property, jsonName, bindName: property, required: true, jsonRequired: false, dontBind: [], spec: {} },
    codec: { kind: 'scalar', name: `enum (${list})`, described, schema, text: read, json: read },
  };
}
