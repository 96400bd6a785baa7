import type { Awaitable } from '../reading/awaitable';
import { isJsonObject, jsonInText, type JsonObject } from '../reading/json-text';
import { namingErrors, checkUniqueNames } from './declaration-error';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { instancesOf, propertiesOf, unsetRemover, type PropertySpec } from './property';
import { readerOf, type Field, type ReadFields } from '../reading/compiled';
import { ObjectValues } from '../reading/object-values';
import { ownValue } from '../reading/own-value';
import { isSent, readJson, readNested, readNothing } from '../types/read-value';
import type { NameTree } from '../reading/name-tree';
import { written, type Codec, type CodecMember } from '../types/codec';
import type { Codecs, DtoClass } from '../types/property-type';

/** One property of a nested dto. */
interface Member extends CodecMember {
  readonly property: string;
  readonly required: boolean;
  readonly jsonRequired: boolean;
  /** Sources that must not bind to the property, if any. */
  readonly dontBind: readonly string[] | undefined;
}

/** Makes the codec of a dto class that is nested in another one, or used in a response. */
export function objectCodec<T>(Dto: DtoClass<T>, codecs: Codecs): Codec<T> {
  const properties = propertiesOf(Dto);
  const create = instancesOf(Dto, properties);
  const removeUnset = unsetRemover(properties);
  const members: Member[] = [];
  /** The members that are read here. Claims, permissions and headers are read at the root only. */
  const fields: (Member & Field)[] = [];
  // Postponed, because a property can be of this very class.
  codecs.later(() => {
    for (const [property, spec] of properties) {
      const member = memberOf(Dto, property, spec, codecs);
      members.push(member);
      if (spec.kind === 'field') fields.push({ ...member, ...fieldOf(member) });
    }
    checkUniqueNames(
      Dto.name,
      'JSON name',
      members.map(({ property, jsonName }) => [property, jsonName]),
    );
    readFields = readerOf(fields, (member, objectValues, json, location) => {
      readMember(member, objectValues, inJson, json, location);
    });
  });
  let readFields: ReadFields<ObjectValues<T & object>>;

  const isSentBelow = (tree: NameTree, location: Location): boolean =>
    fields.some(
      ({ name, codec, dontBind }) => !dontBind?.includes(location.source) && isSent(codec, tree.at(name), location),
    );

  const fromJson = (json: unknown, location: Location): Awaitable<T | Invalid> => {
    if (!isJsonObject(json)) return location.failValue(json, 'JSON object');
    if (location.isTooDeep()) return INVALID;
    const objectValues = new ObjectValues(create(), removeUnset);
    readFields(objectValues, json, location);
    return objectValues.result();
  };

  return {
    name: Dto.name || 'object',
    shape: 'object',
    ...notNestable(Dto, properties),
    memberOf: property => members.find(member => member.property === property),
    memberCalled: name => fields.find(field => field.name.toLowerCase() === name),
    parts: () => members.map(({ codec }) => codec),
    fromJson,
    fromText(values, location) {
      const [text = ''] = values;
      return values.length === 1
        ? jsonInText(text, location, fromJson)
        : location.failCount(values.length, 'JSON object');
    },
    isSentBelow,
    fromNames(tree, location, required) {
      if (!required && !isSentBelow(tree, location)) return undefined;
      if (location.isTooDeep()) return INVALID;
      const objectValues = new ObjectValues(create(), removeUnset);
      for (const member of fields) readMember(member, objectValues, inNames, tree, location);
      return objectValues.result();
    },
    toJson(value) {
      if (!isJsonObject(value))
        throw new TypeError(
          `The response is declared as ${Dto.name || 'an object'}, but the handler passed a value that is not an object.`,
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
  const codec = namingErrors(`${Dto.name}.${property}`, () => codecs.of(type));
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

/** A property with blocked sources has no fast path: which source is read is known only then. */
const fieldOf = ({ property, jsonName, codec, dontBind }: Member): Field => ({
  key: property,
  jsonName,
  fast: dontBind ? undefined : codec.fromJson.fast,
});

/** Finds a property that binds only at the root of a request, such as a claim or a header. */
function notNestable(
  Dto: DtoClass<unknown>,
  properties: ReadonlyMap<string, PropertySpec>,
): Pick<Codec<unknown>, 'notNestable'> {
  const [name, spec] = [...properties].find(([, { kind }]) => kind !== 'field') ?? [];
  return spec
    ? {
        notNestable: `${Dto.name}.${name}: ${spec.kind} binds only at the root of a request; declare the properties of a nested dto with field or a bare type.`,
      }
    : {};
}

/** An input that an object is read from: how it names a member, and how the value is read. */
interface Origin<F> {
  readonly nameOf: (member: Member) => string;
  readonly read: (member: Member, from: F, location: Location) => unknown;
}

const inJson: Origin<JsonObject> = {
  nameOf: member => member.jsonName,
  read(member, json, location) {
    const value = ownValue(json, member.jsonName);
    if (value !== undefined) return readJson(member, value, location);
    // JSON in a form field cannot hold files. As in any form, files that were not sent are an empty collection.
    if (member.codec.shape === 'file' && member.codec.isCollection && member.required) return [];
    return member.jsonRequired ? location.failMissingInJson() : undefined;
  },
};

const inNames: Origin<NameTree> = {
  nameOf: member => member.name,
  read: (member, tree, location) => readNested(member, tree.at(member.name), location),
};

function readMember<F>(
  member: Member,
  objectValues: ObjectValues<object>,
  origin: Origin<F>,
  from: F,
  location: Location,
): void {
  location.enter(origin.nameOf(member));
  const value = member.dontBind?.includes(location.source) ? undefined : origin.read(member, from, location);
  objectValues.put(member.property, value === undefined ? readNothing(member, location) : value);
  location.leave();
}
