import type { Source } from '../../problems/problem';
import { hasFile, isReadByName, memberIn, takesFiles } from '../types/codec';
import type { Codec, CodecMember, ObjectCodec } from '../types/codec';
import { decimalInText } from '../types/numbers';
import { assertType, classNameOf, isParsable, isSchema, isValueType, remedyFor } from '../types/property-type';
import type { AnyType, Codecs, DtoClass, Infer } from '../types/property-type';
import { schemaCodec } from '../types/schema';
import { namingPolicyOf, type NamingPolicy, type SerializerOptions } from '../types/serializer-options';
import { parsableCodec, replacedCodec, valueParserFor, type ValueParser } from '../types/value-parser';
import { instancesOf, isDto, namingErrors, propertiesOf } from './declarations';
import type { PropertyKind, PropertySpec } from './property';

/** The codecs of all types that one endpoint reads or writes, made once, with its middleware. */
export class CodecTable implements Codecs {
  private made = new WeakMap<AnyType, Codec>();
  private readonly underWay = new Set<AnyType>();
  private readonly putOff: (() => void)[] = [];

  private readonly nameInJson: NamingPolicy;

  constructor(
    private readonly serializer: SerializerOptions,
    private readonly valueParsers: readonly ValueParser[] = [],
  ) {
    this.nameInJson = namingPolicyOf(serializer);
  }

  /**
   * Returns the codec of a type, ready for use.
   * @throws TypeError that names the class and the property that cannot be bound.
   */
  complete = <X extends AnyType>(type: X): Codec<Infer<X>> => this.finished(() => this.of(type));

  /** Returns the codec of the dto of a request, which is an object whatever else may read its class. */
  root = (Dto: DtoClass<unknown>): ReturnType<typeof objectCodec> =>
    this.finished(() => objectCodec(Dto, this, [], type => this.complete(type)));

  private finished<C>(make: () => C): C {
    try {
      const codec = make();
      for (let work = this.putOff.shift(); work; work = this.putOff.shift()) work();
      return codec;
    } catch (error) {
      // Discard half-built codecs, so that the next call does not get one.
      this.made = new WeakMap();
      this.putOff.length = 0;
      throw error;
    }
  }

  of<X extends AnyType>(type: X): Codec<Infer<X>> {
    const known = this.made.get(type);
    if (known) return known as Codec<Infer<X>>;
    if (this.underWay.has(type))
      throw new TypeError(
        'this type contains itself and nothing else; put a dto between the two, ' +
          'for example list(lazy(() => Node)) as a property of Node',
      );
    this.underWay.add(type);
    try {
      const codec = this.make(type);
      this.made.set(type, codec);
      return codec as Codec<Infer<X>>;
    } finally {
      this.underWay.delete(type);
    }
  }

  jsonName(property: string): string {
    const name: unknown = namingErrors('propertyNamingPolicy failed', () => this.nameInJson(property));
    if (typeof name !== 'string')
      throw new TypeError(`propertyNamingPolicy must return text for ${JSON.stringify(property)}, not ${String(name)}`);
    return name;
  }

  later(work: () => void): void {
    this.putOff.push(work);
  }

  /** Makes the type's own codec, with this endpoint's value parser and converter taking precedence. */
  private make(type: AnyType): Codec {
    // In JSON, a class with tryParse and properties is read by these.
    const tryParse = isParsable(type) && isDto(type) ? valueParserFor(type, text => type.tryParse(text)) : undefined;
    const parser = this.valueParsers.find(one => one.type === type) ?? tryParse;
    const converter = this.serializer.converters?.find(one => one.type === type);
    const made = ownCodec(type, this);
    const own = this.serializer.decimals === 'text' ? decimalInText(made) : made;
    if (own && !parser && !converter) return own;
    const name = own?.name ?? (classNameOf(type) || 'value');
    if (!parser && !converter)
      throw new TypeError(`${name} has no declared properties and no static tryParse; ${remedyFor(type)}.`);
    return replacedCodec(name, own, parser, converter);
  }
}

/** Makes a type's own codec; undefined for a class that needs a value parser or a converter. */
function ownCodec(type: AnyType, codecs: Codecs): Codec | undefined {
  assertType(type);
  if (isSchema(type)) return schemaCodec(type);
  if (isValueType(type)) return type.codec(codecs);
  if (isDto(type)) return objectCodec(type, codecs);
  return isParsable(type) ? parsableCodec(type) : undefined;
}

/** A property of a dto as one endpoint reads it. The name of its claim, header, cookie or permission is in `spec`. */
export interface Member extends CodecMember {
  readonly spec: PropertySpec;
}

/** The sources that could supply a nested object, except JSON. */
const NOT_JSON: readonly Source[] = ['form', 'route', 'query', 'claim', 'header', 'cookie'];

export function memberOf(property: string, spec: PropertySpec, codecs: Codecs, codec: Codec): Member {
  const { required, jsonRequired = false, refusesNull = false, bindFrom: bindName = property } = spec;
  const dontBind = spec.kind === 'jsonField' ? NOT_JSON : (spec.dontBind ?? []);
  const jsonName = spec.jsonPropertyName ?? codecs.jsonName(property);
  return { property, codec, bindName, jsonName, required, refusesNull, jsonRequired, dontBind, spec };
}

/**
 * Makes the codec of a dto class.
 * @param tags properties that the class does not declare, and their declarations.
 * @param rootCodec makes the codecs of the properties of a request's dto, of which not all are JSON, each whole before
 * the next, so that errors name the way to them.
 */
export function objectCodec(
  Dto: DtoClass<unknown>,
  codecs: Codecs,
  tags: readonly (readonly [string, PropertySpec])[] = [],
  rootCodec?: (type: AnyType) => Codec,
): ObjectCodec & { readonly members: readonly Member[] } {
  const name = classNameOf(Dto) || 'object';
  const codec = { kind: 'object' as const, name, Dto, ...instancesOf(Dto), members: [], fields: [] };
  // Postponed until the codec is known, because a property can be of this very class.
  codecs.later(() => {
    const members = [...tags, ...propertiesOf(Dto)].map(([property, spec]) =>
      namingErrors(`${classNameOf(Dto)}.${property}`, () =>
        memberOf(property, spec, codecs, rootCodec ? rootCodec(spec.type) : codecs.of(spec.type)),
      ),
    );
    if (!rootCodec) checkJsonNames(name, members);
    Object.assign(codec, { members, fields: members.filter(isField) });
  });
  return codec;
}

/** @throws TypeError if two properties of a class have the same name in JSON. */
export function checkJsonNames(className: string, members: readonly CodecMember[]): void {
  const taken = new Map<string, string>();
  for (const { property, jsonName } of members) {
    const other = taken.get(jsonName);
    if (other !== undefined)
      throw new TypeError(
        `${className}.${other} and ${className}.${property} have the same JSON name, ${JSON.stringify(jsonName)}.`,
      );
    taken.set(jsonName, property);
  }
}

/** Returns true for a property that may be part of a nested object. */
const isField = ({ spec: { kind } }: CodecMember): boolean => kind === 'field' || kind === 'jsonField';

/** Checks that a type fits the declaration. @throws TypeError */
export function checkType(kind: PropertyKind, codec: Codec): void {
  if ((kind === 'fromForm' || kind === 'fromQuery') && !isReadByName(codec))
    throw new TypeError(`${kind} takes an object, whose properties are bound by name: a dto class, not ${codec.name}.`);
  if (kind === 'fromBody' && takesFiles(codec))
    throw new TypeError('it cannot be a file: fromBody takes a JSON body, and files come from a form.');
  const reason = notNestableIn(codec);
  if (reason !== undefined) throw new TypeError(reason);
  if (kind !== 'fromForm' && !takesFiles(codec))
    refuseFile(codec, 'and files come only from a form; declare it with fromForm.');
}

/** @throws TypeError for a type that contains a file: multer's object has its path on the server, or its bytes. */
export function checkIsWritable(codec: Codec): void {
  refuseFile(codec, 'which a response cannot; declare what the response says about it, for example its size.');
}

function refuseFile(codec: Codec, remedy: string): void {
  if (!hasFile(codec)) return;
  const { name } = memberIn(codec, member => takesFiles(member.codec)) ?? {};
  throw new TypeError(`it contains a file${name === undefined ? '' : ` (${name})`}, ${remedy}`);
}

/** Names the first property that binds only at the root of a request, and says so; undefined if there is none. */
export function notNestableIn(codec: Codec): string | undefined {
  const { name, member } = memberIn(codec, one => !isField(one)) ?? {};
  return (
    member &&
    `${name}: ${member.spec.kind} binds only at the root of a request; ` +
      'declare the properties of a nested dto with field or a bare type.'
  );
}
