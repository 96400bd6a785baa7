import { decimalInText } from '../types/numbers';
import { schemaCodec } from '../types/schema';
import { assertType, isParsable, isSchema, remedyFor } from '../types/assert-type';
import { objectCodec } from '../declaration/members';
import { isDto } from '../declaration/declarations';
import { namingErrors } from '../declaration/declaration-error';
import { namingPolicyOf, type NamingPolicy, type SerializerOptions } from '../types/serializer-options';
import { parsableCodec, replacedCodec, type ValueParser } from '../types/value-parser';
import type { Codec } from '../types/codec';
import { classNameOf, type AnyType, type Codecs, type Infer, isValueType } from '../types/property-type';

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
  complete<X extends AnyType>(type: X): Codec<Infer<X>> {
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
    const parser = this.valueParsers.find(one => one.type === type);
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
  const asObject = isDto(type) ? objectCodec(type, codecs) : undefined;
  return isParsable(type) ? parsableCodec(type, asObject) : asObject;
}
