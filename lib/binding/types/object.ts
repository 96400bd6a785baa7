import { after, type Awaitable } from '../awaitable';
import { isJsonObject, jsonInText } from '../json-text';
import { mistakesAt, refuseSameName } from '../mistake';
import { INVALID, type Invalid, type Place } from '../place';
import { instancesOf, propertiesOf, type PropertySpec } from '../property';
import { readJson, readNested, readNothing } from '../reading';
import { written, type Codec } from './codec';
import type { Codecs, DtoClass } from './property-type';

/** One property of a nested dto. */
interface Member {
  readonly property: string;
  readonly jsonName: string;
  /** Name in a form or a query. */
  readonly name: string;
  readonly codec: Codec<unknown>;
  readonly required: boolean;
  readonly dontBind: readonly string[];
}

/** The codec of a dto class that stands inside another, or in an answer. */
export function objectCodec<T>(Dto: DtoClass<T>, codecs: Codecs): Codec<T> {
  const properties = propertiesOf(Dto);
  const create = instancesOf(Dto, properties);
  const members: Member[] = [];
  // Later: a property can be of this very class.
  codecs.later(() => {
    for (const [property, spec] of properties) members.push(memberOf(Dto, property, spec, codecs));
    refuseSameName(Dto.name, 'JSON name', members.map(({ property, jsonName }) => [property, jsonName]));
  });

  const fromJson = (json: unknown, place: Place): Awaitable<T | Invalid> => {
    if (!isJsonObject(json)) return place.failValue(json, 'JSON object');
    return place.isTooDeep() ? INVALID : fill(create(), members, place, 'jsonName', member => {
      const value = ownValue(json, member.jsonName);
      return value === undefined ? undefined : readJson(member, value, place);
    });
  };

  return {
    name: Dto.name || 'object',
    shape: 'object',
    ...rootOnly(Dto, properties),
    parts: () => members.map(({ codec }) => codec),
    fromJson,
    fromText(values, place) {
      const [text = ''] = values;
      return values.length === 1 ? jsonInText(text, place, fromJson) : place.failCount(values.length, 'JSON object');
    },
    fromNames: (branch, place) => (place.isTooDeep() ? INVALID : fill(create(), members, place, 'name', member => readNested(member, branch.at(member.name), place))),
    toJson: value => (isJsonObject(value) ? Object.fromEntries(members.flatMap(({ property, jsonName, codec }) => (value[property] === undefined ? [] : [[jsonName, written(codec, value[property])]]))) : value),
  };
}

function memberOf(Dto: DtoClass<unknown>, property: string, { type, required, jsonPropertyName, bindFrom = property, dontBind = [] }: PropertySpec, codecs: Codecs): Member {
  const codec = mistakesAt(`${Dto.name}.${property}`, () => codecs.of(type));
  return { property, jsonName: jsonPropertyName ?? codecs.jsonName(property), name: bindFrom, codec, required, dontBind };
}

/** Claims and headers, say, are found at the root of a request and nowhere else. */
function rootOnly(Dto: DtoClass<unknown>, properties: ReadonlyMap<string, PropertySpec>): Pick<Codec<unknown>, 'rootOnly'> {
  const [name, spec] = [...properties].find(([, { kind }]) => kind !== 'field') ?? [];
  return spec ? { rootOnly: `${Dto.name}.${name}: ${spec.kind} binds only at the root of a request; declare the properties of a nested dto with field or a bare type.` } : {};
}

/** Reads member after member; all of them, so that every failure is noted. Only what is declared is ever written. */
function fill<T>(dto: T & Record<string, unknown>, members: readonly Member[], place: Place, key: 'jsonName' | 'name', read: (member: Member) => unknown): Awaitable<T | Invalid> {
  let failed = 0;
  const later: unknown[] = [];
  const take = ({ property }: Member, value: unknown): void => {
    if (value === INVALID) failed++;
    else if (value !== undefined) Object.assign(dto, { [property]: value });
  };
  for (const member of members) {
    place.enter(member[key]);
    const found = member.dontBind.includes(place.source) ? undefined : read(member);
    const value = found === undefined ? readNothing(member, place) : found;
    place.leave();
    if (value instanceof Promise) later.push(after(value, known => { take(member, known); }));
    else take(member, value);
  }
  return after(later.length > 0 ? Promise.all(later) : undefined, () => (failed === 0 ? dto : INVALID));
}

/** Own values only: `constructor` and `__proto__` are names like any other. */
function ownValue(json: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}
