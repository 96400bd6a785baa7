import type { ProblemLocation, Source } from '../../problems/problem';
import type { FoundValues } from '../reading/found-values';
import type { JsonObject } from '../reading/json-text';
import type { Location } from '../reading/location';
import { ownValue } from '../reading/own-value';
import { classNameOf } from '../types/class-name';
import type { Codec, CodecMember } from '../types/codec';
import type { Codecs, DtoClass } from '../types/property-type';
import { propertiesOf } from './class-properties';
import { namingErrors } from './declaration-error';
import type { PropertySpec } from './property';

/**
 * A property of a dto as one endpoint reads it: its names, and the codec of its type. The name of its claim, header,
 * cookie or permission is in `spec`.
 */
export interface Member extends CodecMember {
  /** Name of the property on the dto, and its index among the properties. */
  readonly property: string;
  readonly index: number;
  readonly required: boolean;
  /** True if the JSON itself must contain the value. */
  readonly jsonRequired: boolean;
  /** Sources that must not bind to the property. */
  readonly dontBind: readonly Source[];
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
  codecFor: (spec: PropertySpec) => Codec<unknown>,
): readonly Member[] {
  return [...propertiesOf(Dto)].map(([property, spec], index) =>
    namingErrors(`${classNameOf(Dto)}.${property}`, () => {
      const { required, jsonRequired = false, jsonPropertyName, bindFrom: bindName = property } = spec;
      const dontBind = spec.kind === 'jsonField' ? NOT_JSON : (spec.dontBind ?? []);
      const codec = codecFor(spec);
      const jsonName = jsonPropertyName ?? codecs.jsonName(property);
      return { property, index, codec, bindName, jsonName, required, jsonRequired, dontBind, spec };
    }),
  );
}

/** Reads the fields of a JSON object, one after the other. */
export type ReadFields = (found: FoundValues, json: JsonObject, location: Location) => void;

/**
 * Makes the reader of the fields of a JSON object.
 * @param keyOf the key that the value of a member is put under.
 * @param read reads a value, undefined if the object lacks it. A valid value of a type with a fast path is not passed
 * to it.
 */
export function jsonReaderOf(
  members: readonly Member[],
  keyOf: (member: Member) => string | number,
  read: (member: Member, value: unknown, location: Location) => unknown,
): ReadFields {
  const fields = members.map(member => ({
    key: keyOf(member),
    jsonName: member.jsonName,
    // Which source a nested dto is read from is known only then.
    fast: member.dontBind.length > 0 ? undefined : member.codec.fromJson.fast,
    member,
  }));
  return (found, json, location) => {
    const target = found.target as Record<string | number, unknown>;
    for (const { key, jsonName, fast, member } of fields) {
      const sent = ownValue(json, jsonName);
      const value = sent === undefined ? undefined : fast?.(sent);
      if (value !== undefined) {
        target[key] = value;
        continue;
      }
      location.enter(jsonName);
      found.put(key, read(member, sent, location));
      location.leave();
    }
  };
}

/** Returns true if the source of the object must not bind to one of its properties. */
export function isBlocked(member: Member, { source }: Location): boolean {
  const dontBind: readonly ProblemLocation[] = member.dontBind;
  return dontBind.includes(source);
}
