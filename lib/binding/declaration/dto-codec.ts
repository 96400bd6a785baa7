import type { Awaitable } from '../../basics/awaitable';
import { FoundValues } from '../reading/found-values';
import { isJsonObject, jsonInText, type JsonObject } from '../reading/json-text';
import { INVALID, type Invalid, type Location } from '../reading/location';
import { finderOf } from '../reading/name-parts';
import type { NameTree } from '../reading/name-tree';
import { classNameOf } from '../types/class-name';
import { takesFiles, type Codec } from '../types/codec';
import type { JsonSchema, Schemas } from '../types/json-schema';
import type { Codecs, DtoClass } from '../types/property-type';
import { readJson, readNested, readNothing } from '../types/read-value';
import { checkJsonNames } from './declaration-error';
import { mustBeSent, objectSchema } from './dto-schema';
import { objectWriter } from './dto-writer';
import { isBlocked, jsonReaderOf, membersOf, type Member, type ReadFields } from './members';
import { completion, instancesOf } from './instances';
import { propertiesOf } from './class-properties';
import type { PropertyKind } from './property';
import { sentNames } from './sent-names';

/** The properties of a class, once the codecs of their types are known. */
interface Prepared {
  readonly members: readonly Member[];
  /** The members that are read here. Claims, permissions and headers are read at the root only. */
  readonly fields: readonly Member[];
  readonly read: ReadFields;
  readonly write: (value: unknown) => JsonObject;
  readonly fieldAt: (sent: string) => Member | undefined;
}

/** Makes the codec of a dto class that is nested in another one, or used in a response. */
export function objectCodec<T>(Dto: DtoClass<T>, codecs: Codecs): Codec<T> {
  const create = instancesOf(Dto);
  const complete = completion(Dto);
  let prepared: Prepared;
  // Postponed, because a property can be of this very class.
  codecs.later(() => {
    prepared = prepare(Dto, codecs);
  });

  const fromJson = (json: unknown, location: Location): Awaitable<T | Invalid> => {
    if (!isJsonObject(json)) return location.failValue(json, 'JSON object');
    if (location.isTooDeep()) return INVALID;
    const found = new FoundValues(create());
    prepared.read(found, json, location);
    return found.settled(complete);
  };
  const isSentBelow = sentNames(() => prepared.fields);
  const codec: Codec<T> = {
    ...factsOf(Dto, () => prepared),
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
      const found = new FoundValues(create());
      for (const member of prepared.fields) {
        location.enter(member.bindName);
        found.put(member.property, readInNames(member, tree, location));
        location.leave();
      }
      return found.settled(complete);
    },
    toJson: value => prepared.write(value),
    // A class without a name may contain itself, too.
    schema: schemas => schemas.named(codec, classNameOf(Dto) || 'Dto', inside => schemaOf(prepared, inside)),
  };
  return codec;
}

/** What a codec says about its class, whatever the value. */
type Facts = Pick<
  Codec<unknown>,
  'name' | 'shape' | 'notNestable' | 'memberOf' | 'propertyOf' | 'memberAt' | 'parts' | 'schemaOfNames'
>;

/** Makes the members of the codec that read and write no value. @param prepared returns the properties, once known. */
function factsOf(Dto: DtoClass<unknown>, prepared: () => Prepared): Facts {
  const name = classNameOf(Dto) || 'object';
  return {
    name,
    shape: 'object',
    ...notNestable(Dto),
    memberOf: property => prepared().members.find(member => member.property === property),
    propertyOf: test => prepared().members.find(member => test(member.codec))?.property,
    memberAt: sent => prepared().fieldAt(sent),
    parts: () => prepared().members.map(member => member.codec),
    schemaOfNames: schemas => objectSchema(prepared().fields, ({ bindName }) => bindName, schemas, isNeededName),
  };
}

/** Returns true for a property that may be part of a nested object. */
const isField = (kind: PropertyKind): boolean => kind === 'field' || kind === 'jsonField';

/** Finds a property that binds only at the root of a request, such as a claim or a header. */
function notNestable(Dto: DtoClass<unknown>): Pick<Facts, 'notNestable'> {
  const [name, spec] = [...propertiesOf(Dto)].find(([, { kind }]) => !isField(kind)) ?? [];
  return spec
    ? {
        notNestable:
          `${classNameOf(Dto)}.${name}: ${spec.kind} binds only at the root of a request; ` +
          'declare the properties of a nested dto with field or a bare type.',
      }
    : {};
}

/** Returns true if names must have the member. A collection without values cannot be sent, and is empty. */
const isNeededName = (member: Member): boolean => !member.codec.isCollection && mustBeSent(member);

/** Describes the object in JSON. */
function schemaOf({ fields, members }: Prepared, schemas: Schemas): JsonSchema {
  const jsonName = (member: Member): string => member.jsonName;
  return schemas.direction === 'request'
    ? objectSchema(fields, jsonName, schemas, member => member.jsonRequired || mustBeSent(member))
    : objectSchema(members, jsonName, schemas);
}

function prepare(Dto: DtoClass<unknown>, codecs: Codecs): Prepared {
  const members = membersOf(Dto, codecs, ({ type }) => codecs.of(type));
  checkJsonNames(classNameOf(Dto), members);
  const fields = members.filter(({ spec }) => isField(spec.kind));
  return {
    members,
    fields,
    read: jsonReaderOf(fields, ({ property }) => property, readInJson),
    write: objectWriter(classNameOf(Dto) || 'an object', members),
    fieldAt: finderOf(fields, ({ bindName }) => bindName),
  };
}

function readInJson(member: Member, value: unknown, location: Location): unknown {
  if (isBlocked(member, location)) return readNothing(member, location);
  if (value !== undefined) return orNothing(readJson(member, value, location), member, location);
  // JSON in a form field cannot hold files. As in any form, files that were not sent are an empty collection.
  if (member.required && member.codec.isCollection && takesFiles(member.codec)) return [];
  return member.jsonRequired ? location.failMissingInJson() : readNothing(member, location);
}

function readInNames(member: Member, tree: NameTree, location: Location): unknown {
  const value = isBlocked(member, location) ? undefined : readNested(member, tree.at(member.bindName), location);
  return orNothing(value, member, location);
}

function orNothing(value: unknown, member: Member, location: Location): unknown {
  return value === undefined ? readNothing(member, location) : value;
}
