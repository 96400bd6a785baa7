import { hasFile, isReadByName, memberIn, takesFiles, type Codec, type Member, type ObjectCodec } from '../types/codec';
import { decimalInText } from '../types/numbers';
import { assertType, classNameOf, isParsable, isSchema, isValueType } from '../types/property-type';
import type { AnyType, Codecs, DtoClass } from '../types/property-type';
import { schemaCodec } from '../types/schema';
import { namingPolicyOf, parsableCodec, replacedCodec, valueParserFor } from '../types/serializer';
import type { SerializerOptions, ValueParser } from '../types/serializer';
import { instancesOf, isDto, namingErrors, propertiesOf } from './declarations';
import type { PropertySpec } from './property';

/** The codecs of all types that one endpoint reads or writes, made once, with its middleware. */
export class CodecTable implements Codecs {
  /** Undefined for a type whose codec is under way. */
  private made = new WeakMap<AnyType, Codec | undefined>();
  private readonly putOff: (() => void)[] = [];

  constructor(
    private readonly serializer: SerializerOptions,
    private readonly valueParsers: readonly ValueParser[] = [],
  ) {}

  /**
   * Returns the codec of a type, ready for use.
   * @throws TypeError that names the class and the property that cannot be bound.
   */
  complete(type: AnyType): Codec {
    try {
      const codec = this.of(type);
      for (let work = this.putOff.shift(); work; work = this.putOff.shift()) work();
      return codec;
    } catch (error) {
      // Discard half-built codecs, so that the next call does not get one.
      this.made = new WeakMap();
      this.putOff.length = 0;
      throw error;
    }
  }

  of(type: AnyType): Codec {
    assertType(type);
    const known = this.made.get(type);
    if (known) return known;
    if (this.made.has(type))
      throw new TypeError(
        'this type contains itself and nothing else; put a dto between the two, ' +
          'for example list(lazy(() => Node)) as a property of Node',
      );
    this.made.set(type, undefined);
    const codec = this.make(type);
    this.made.set(type, codec);
    return codec;
  }

  jsonName(property: string): string {
    return namingErrors('propertyNamingPolicy failed', () => namingPolicyOf(this.serializer)(property));
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
      throw new TypeError(
        `${name} has no declared properties and no static tryParse; declare them with dto({...}) or decorators, ` +
          'take a type of bindonce (string, int, dateTime, list(string), …), or pass a value parser ' +
          '(valueParserFor) or a converter for it.',
      );
    return replacedCodec(name, own, parser, converter);
  }
}

/** Makes a type's own codec; undefined for a class that needs a value parser or a converter. */
function ownCodec(type: AnyType, codecs: Codecs): Codec | undefined {
  if (isSchema(type)) return schemaCodec(type);
  if (isValueType(type)) return type.codec(codecs);
  if (isDto(type)) return objectCodec(type, codecs);
  return isParsable(type) ? parsableCodec(type) : undefined;
}

/** @param codec of the declared type. */
export const memberOf = (spec: PropertySpec, codecs: Codecs, codec: Codec): Member => ({
  ...spec,
  codec,
  jsonName: spec.jsonPropertyName ?? codecs.jsonName(spec.property),
});

/**
 * Makes the codec of a dto class.
 * @param tags properties that the class does not declare, and their declarations.
 */
export function objectCodec(Dto: DtoClass<unknown>, codecs: Codecs, tags: readonly PropertySpec[] = []): ObjectCodec {
  const name = classNameOf(Dto) || 'object';
  const members: Member[] = [];
  // Postponed until the codec is known, because a property can be of this very class.
  codecs.later(() => {
    for (const spec of [...tags, ...propertiesOf(Dto).values()])
      namingErrors(`${classNameOf(Dto)}.${spec.property}`, () =>
        members.push(memberOf(spec, codecs, codecs.of(spec.type))),
      );
    checkJsonNames(name, members);
  });
  return { kind: 'object', name, Dto, ...instancesOf(Dto), members };
}

/** @throws TypeError if two properties of a class have the same name in JSON. */
export function checkJsonNames(className: string, members: readonly Member[]): void {
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

/** Checks that a type fits the declaration. @throws TypeError */
export function checkType({ kind, codec }: Member): void {
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
export const checkIsWritable = (codec: Codec): Codec =>
  refuseFile(codec, 'which a response cannot; declare what the response says about it, for example its size.');

function refuseFile(codec: Codec, remedy: string): Codec {
  if (!hasFile(codec)) return codec;
  const { name } = memberIn(codec, member => takesFiles(member.codec)) ?? {};
  throw new TypeError(`it contains a file${name === undefined ? '' : ` (${name})`}, ${remedy}`);
}

/** Names the first property that binds only at the root of a request, and says so; undefined if there is none. */
export function notNestableIn(codec: Codec): string | undefined {
  const { name, member } = memberIn(codec, ({ kind }) => kind !== 'field' && kind !== 'jsonField') ?? {};
  return (
    member &&
    `${name}: ${member.kind} binds only at the root of a request; ` +
      'declare the properties of a nested dto with field or a bare type.'
  );
}
