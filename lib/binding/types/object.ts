import type { Awaitable } from '../reading/awaitable';
import { isJsonObject, jsonInText, type JsonObject } from '../json/json-text';
import { mistakesAt, refuseSameName } from '../declaration/mistake';
import { INVALID, type Invalid, type Place } from '../reading/place';
import { instancesOf, propertiesOf, unsetRemover, type PropertySpec } from '../declaration/property';
import { readerOf, type Field, type ReadFields } from '../reading/compiled';
import { Filling } from '../reading/filling';
import { ownValue } from '../reading/own-value';
import { isSent, readJson, readNested, readNothing } from '../reading/reading';
import type { Branch } from '../sources/branch';
import { written, type Codec, type CodecMember } from './codec';
import type { Codecs, DtoClass } from './property-type';

/** One property of a nested dto. */
interface Member extends CodecMember {
  readonly property: string;
  readonly required: boolean;
  readonly jsonRequired: boolean;
  /** Sources that must not bind to it, if there are any. */
  readonly dontBind: readonly string[] | undefined;
}

/** The codec of a dto class that stands inside another, or in an answer. */
export function objectCodec<T>(Dto: DtoClass<T>, codecs: Codecs): Codec<T> {
  const properties = propertiesOf(Dto);
  const create = instancesOf(Dto, properties);
  const removeUnset = unsetRemover(properties);
  const members: Member[] = [];
  /** What is read here: the rest (claims, permissions, headers…) has sources of its own. */
  const fields: (Member & Field)[] = [];
  // Later: a property can be of this very class.
  codecs.later(() => {
    for (const [property, spec] of properties) {
      const member = memberOf(Dto, property, spec, codecs);
      members.push(member);
      if (spec.kind === 'field') fields.push({ ...member, ...fieldOf(member) });
    }
    refuseSameName(
      Dto.name,
      'JSON name',
      members.map(({ property, jsonName }) => [property, jsonName]),
    );
    readFields = readerOf(fields, (member, filling, json, place) => {
      readMember(member, filling, inJson, json, place);
    });
  });
  let readFields: ReadFields<Filling<T & object>>;

  const isSentBelow = (branch: Branch, place: Place): boolean =>
    fields.some(
      ({ name, codec, dontBind }) => !dontBind?.includes(place.source) && isSent(codec, branch.at(name), place),
    );

  const fromJson = (json: unknown, place: Place): Awaitable<T | Invalid> => {
    if (!isJsonObject(json)) return place.failValue(json, 'JSON object');
    if (place.isTooDeep()) return INVALID;
    const filling = new Filling(create(), removeUnset);
    readFields(filling, json, place);
    return filling.result();
  };

  return {
    name: Dto.name || 'object',
    shape: 'object',
    ...rootOnly(Dto, properties),
    memberOf: property => members.find(member => member.property === property),
    memberCalled: name => fields.find(field => field.name.toLowerCase() === name),
    parts: () => members.map(({ codec }) => codec),
    fromJson,
    fromText(values, place) {
      const [text = ''] = values;
      return values.length === 1 ? jsonInText(text, place, fromJson) : place.failCount(values.length, 'JSON object');
    },
    isSentBelow,
    fromNames(branch, place, required) {
      if (!required && !isSentBelow(branch, place)) return undefined;
      if (place.isTooDeep()) return INVALID;
      const filling = new Filling(create(), removeUnset);
      for (const member of fields) readMember(member, filling, inNames, branch, place);
      return filling.result();
    },
    toJson(value) {
      if (!isJsonObject(value))
        throw new TypeError(
          `What is no object cannot be written as ${Dto.name || 'an object'}, which is what the response is declared to have there.`,
        );
      return Object.fromEntries(
        members
          .filter(({ property }) => value[property] !== undefined)
          .map(({ property, jsonName, codec }) => [jsonName, written(codec, value[property])]),
      );
    },
  };
}

function memberOf(
  Dto: DtoClass<unknown>,
  property: string,
  { type, required, jsonRequired = false, jsonPropertyName, bindFrom = property, dontBind }: PropertySpec,
  codecs: Codecs,
): Member {
  const codec = mistakesAt(`${Dto.name}.${property}`, () => codecs.of(type));
  return {
    property,
    jsonName: jsonPropertyName ?? codecs.jsonName(property),
    name: bindFrom,
    codec,
    required,
    jsonRequired,
    dontBind,
  };
}

/** Whether a source is blocked shows only where it is read. */
const fieldOf = ({ property, jsonName, codec, dontBind }: Member): Field => ({
  key: property,
  jsonName,
  byItself: dontBind ? undefined : codec.fromJson.byItself,
});

/** Claims and headers, say, are found at the root of a request and nowhere else. */
function rootOnly(
  Dto: DtoClass<unknown>,
  properties: ReadonlyMap<string, PropertySpec>,
): Pick<Codec<unknown>, 'rootOnly'> {
  const [name, spec] = [...properties].find(([, { kind }]) => kind !== 'field') ?? [];
  return spec
    ? {
        rootOnly: `${Dto.name}.${name}: ${spec.kind} binds only at the root of a request; declare the properties of a nested dto with field or a bare type.`,
      }
    : {};
}

/** Where an object is read from: how a member is called there, and how its value is read. */
interface Origin<F> {
  readonly nameOf: (member: Member) => string;
  readonly read: (member: Member, from: F, place: Place) => unknown;
}

const inJson: Origin<JsonObject> = {
  nameOf: member => member.jsonName,
  read(member, json, place) {
    const value = ownValue(json, member.jsonName);
    if (value !== undefined) return readJson(member, value, place);
    // JSON in a field of a form cannot hold files; those that nobody sent are an empty collection, as for any form.
    if (member.codec.shape === 'file' && member.codec.isCollection && member.required) return [];
    return member.jsonRequired ? place.failMissingInJson() : undefined;
  },
};

const inNames: Origin<Branch> = {
  nameOf: member => member.name,
  read: (member, branch, place) => readNested(member, branch.at(member.name), place),
};

function readMember<F>(member: Member, filling: Filling<object>, origin: Origin<F>, from: F, place: Place): void {
  place.enter(origin.nameOf(member));
  const value = member.dontBind?.includes(place.source) ? undefined : origin.read(member, from, place);
  filling.put(member.property, value === undefined ? readNothing(member, place) : value);
  place.leave();
}
