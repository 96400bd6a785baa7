import { after, type Awaitable } from '../../basics/awaitable';
import type { ReadFields } from '../reading/class-code';
import { FoundValues } from '../reading/found-values';
import { isJsonObject, jsonInText, type JsonObject } from '../reading/json-text';
import { INVALID, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { textWriter, written, type Codec } from '../types/codec';
import type { Codecs, DtoClass } from '../types/property-type';
import { isSent, readJson, readNested, readNothing } from '../types/read-value';
import { checkUniqueNames, namingErrors } from './declaration-error';
import { mustBeSent, objectSchema } from './dto-schema';
import { jsonReaderOf, memberOf, type Member } from './members';
import { instancesOf, unsetRemover } from './instances';
import { propertiesOf, type PropertySpec } from './property';

/** Makes the codec of a dto class that is nested in another one, or used in a response. */
export function objectCodec<T>(Dto: DtoClass<T>, codecs: Codecs): Codec<T> {
  const properties = propertiesOf(Dto);
  const code = codecs.codeFor(Dto);
  const create = instancesOf(Dto, properties, code);
  const removeUnset = unsetRemover(properties, code);
  let members: readonly Member[] = [];
  /** The members that are read here. Claims, permissions and headers are read at the root only. */
  let fields: readonly Member[] = [];
  let readFields: ReadFields<FoundValues>;
  let writeText: (value: object) => string;
  let writePlain: (value: object) => object;
  // Postponed, because a property can be of this very class.
  codecs.later(() => {
    members = [...properties].map(([property, spec], index) =>
      memberOf(
        property,
        index,
        spec,
        namingErrors(`${Dto.name}.${property}`, () => codecs.of(spec.type)),
        codecs,
      ),
    );
    checkUniqueNames(
      Dto.name,
      'JSON name',
      members.map(({ property, jsonName }) => [property, jsonName]),
    );
    fields = members.filter(({ property }) => properties.get(property)?.kind === 'field');
    readFields = jsonReaderOf(code, fields, ({ property }) => property, readInJson);
    const written = members.map(({ property, jsonName, codec: own }) => {
      const { plain = never, keeps = false } = own.toJson ?? {};
      return { property, jsonName, text: textWriter(own), plain, keeps };
    });
    writeText = code.textWriter(written);
    writePlain = code.plainWriter(written);
  });

  const cleared = (dto: (T & object) | Invalid): T | Invalid => {
    if (dto !== INVALID) removeUnset?.(dto);
    return dto;
  };
  const fromJson = (json: unknown, location: Location): Awaitable<T | Invalid> => {
    if (!isJsonObject(json)) return location.failValue(json, 'JSON object');
    if (location.isTooDeep()) return INVALID;
    const found = new FoundValues(create());
    readFields(found, json, location);
    return after(found.settled(), cleared);
  };
  const asObject = (value: unknown): JsonObject => {
    if (isJsonObject(value)) return value;
    throw new TypeError(
      `The response is declared as ${Dto.name || 'an object'}, but the handler passed a value that is not an object.`,
    );
  };
  const toJson = (value: unknown): JsonObject => {
    const object = asObject(value);
    return Object.fromEntries(
      members
        .filter(({ property }) => object[property] !== undefined)
        .map(({ property, jsonName, codec: own }) => [jsonName, written(own, object[property])]),
    );
  };
  // A list asks about the same names at two levels: without its answers kept, each level would take twice the time.
  const answers = new WeakMap<NameTree, boolean>();
  const isSentBelow = (tree: NameTree, location: Location): boolean => {
    const answer =
      answers.get(tree) ??
      fields.some(member => !isBlocked(member, location) && isSent(member.codec, tree.at(member.name), location));
    answers.set(tree, answer);
    return answer;
  };

  const codec: Codec<T> = {
    name: Dto.name || 'object',
    shape: 'object',
    ...notNestable(Dto, properties),
    memberOf: property => members.find(member => member.property === property),
    memberCalled: name => fields.find(field => field.name.toLowerCase() === name),
    parts: () => members.map(member => member.codec),
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
      for (const member of fields) {
        location.enter(member.name);
        found.put(member.property, readInNames(member, tree, location));
        location.leave();
      }
      return after(found.settled(), cleared);
    },
    toJson: Object.assign(toJson, {
      text: (value: unknown) => writeText(asObject(value)),
      plain: (value: unknown) => writePlain(asObject(value)),
    }),
    schema: schemas =>
      // A class without a name may contain itself, too.
      schemas.named(codec, Dto.name || 'Dto', inside =>
        objectSchema(inside.direction === 'request' ? fields : members, ({ jsonName }) => jsonName, inside),
      ),
    // A collection without values cannot be sent, and is empty.
    schemaOfNames: schemas =>
      objectSchema(
        fields,
        ({ name }) => name,
        schemas,
        member => mustBeSent(member) && !member.codec.isCollection,
      ),
  };
  return codec;
}

/** The plain form of a type that has none; it is never asked for. */
const never = (): undefined => undefined;

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

function readInJson(member: Member, value: unknown, location: Location): unknown {
  if (isBlocked(member, location)) return readNothing(member, location);
  if (value !== undefined) return orNothing(readJson(member, value, location), member, location);
  // JSON in a form field cannot hold files. As in any form, files that were not sent are an empty collection.
  if (member.codec.shape === 'file' && member.codec.isCollection && member.required) return [];
  return member.jsonRequired ? location.failMissingInJson() : readNothing(member, location);
}

function readInNames(member: Member, tree: NameTree, location: Location): unknown {
  const value = isBlocked(member, location) ? undefined : readNested(member, tree.at(member.name), location);
  return orNothing(value, member, location);
}

function orNothing(value: unknown, member: Member, location: Location): unknown {
  return value === undefined ? readNothing(member, location) : value;
}

/** Tells whether the source of the object must not bind to one of its properties. */
const isBlocked = ({ dontBind }: Member, { source }: Location): boolean => dontBind.includes(source);
