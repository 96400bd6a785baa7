import { ClassCode } from '../reading/class-code';
import { compilerWith, neverThrowing, type Compile } from '../reading/compile';
import { namingErrors } from '../declaration/declaration-error';
import type { JsonConverter } from '../types/json-converter';
import { plainJson, jsonInText } from '../reading/json-text';
import type { NamingPolicy } from '../types/naming-policy';
import { INVALID, type Location } from '../reading/location';
import { namingPolicyOf, type SerializerOptions } from '../types/serializer-options';
import type { ValueParser } from '../types/value-parser';
import type { Codec } from '../types/codec';
import { accepted } from '../types/parse-result';
import type { AnyType, Codecs, Infer } from '../types/property-type';
import { ownCodec } from './own-codec';

/** The codecs of all types that one endpoint reads or writes, made once, with its middleware. */
export class CodecTable implements Codecs {
  private made = new WeakMap<AnyType, Codec<unknown>>();
  private readonly underWay = new Set<AnyType>();
  private readonly putOff: (() => void)[] = [];

  private readonly nameInJson: NamingPolicy;
  private compile: Compile;

  constructor(
    private readonly serializer: SerializerOptions,
    private readonly valueParsers: readonly ValueParser[] = [],
  ) {
    this.nameInJson = namingPolicyOf(serializer);
    this.compile = compilerWith(serializer.contexts ?? []);
  }

  /**
   * Does the work that is done once, when a middleware is made. Codecs that are made later are made for a request,
   * which must not fail because generated contexts are stale.
   */
  prepare<T>(work: () => T): T {
    const prepared = work();
    this.compile = compilerWith(neverThrowing(this.serializer.contexts ?? []));
    return prepared;
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

  codeFor({ name }: { readonly name: string }): ClassCode {
    return new ClassCode(name || 'dto', this.compile);
  }

  later(work: () => void): void {
    this.putOff.push(work);
  }

  /** Makes the type's own codec, with this endpoint's value parser and converter taking precedence. */
  private make(type: AnyType): Codec<unknown> {
    const parser = this.valueParsers.find(one => one.type === type);
    const converter = this.serializer.converters?.find(one => one.type === type);
    const own = ownCodec(type, this);
    if (own && !parser && !converter) return own;
    if (own) {
      const read = { ...own, ...(converter && converted(own, converter)) };
      // A parser reads the text of an object whose properties are blocked there.
      const blockedIn = (source: string): string | undefined =>
        source === 'json' ? read.blockedIn?.('json') : undefined;
      return parser ? { ...read, ...parsing(parser, own.name), blockedIn } : read;
    }
    const name = (type as { name?: string }).name || 'value';
    if (!parser && !converter)
      throw new TypeError(`${name} has no declared properties and no static tryParse; ${remedyFor(type)}.`);
    const json = converter
      ? converting(converter, name)
      : { isTextOnly: true, fromJson: (value: unknown, location: Location) => location.failValue(value, name) };
    return {
      name,
      shape: 'scalar',
      ...json,
      ...(parser ? parsing(parser, name) : { fromText: textThrough(json.fromJson, name) }),
    };
  }
}

function remedyFor(type: AnyType): string {
  const meant = ownTypes.get(type);
  if (meant !== undefined) return `the type for it is ${meant}`;
  return (
    'declare them with dto({...}) or decorators, or pass a valueParserFor or a converter for it, ' +
    'or, if it makes types as list does, call it: list(string)'
  );
}

/** JavaScript's own classes, and the types to use instead of them. */
const ownTypes: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'int, double or decimal'],
  [Boolean, 'bool'],
  [BigInt, 'long'],
  [Date, 'dateTime'],
  [URL, 'uri'],
  [Array, 'list(…)'],
  [Object, 'a class that extends dto({...})'],
]);

/** The reading of text by a value parser, which takes precedence over the type's own parser. It does not read JSON. */
function parsing(
  { parse }: ValueParser,
  name: string,
): Pick<Codec<unknown>, 'fromText' | 'fromItems' | 'fromSegments' | 'fromBlank' | 'schemaOfText'> {
  return {
    schemaOfText: () => ({ type: 'string', title: name }),
    fromItems: undefined,
    fromSegments: undefined,
    fromBlank: undefined,
    fromText(values, location) {
      const [text = ''] = values;
      return values.length === 1
        ? accepted(parse(text), text, name, location, `The value parser for ${name}`)
        : location.failCount(values.length, name);
    },
  };
}

function converting(
  converter: JsonConverter,
  name: string,
): Pick<Codec<unknown>, 'fromJson' | 'fromBlank' | 'toJson' | 'schema'> {
  return {
    fromJson(value, location) {
      const plain = plainJson(value, location);
      return plain === INVALID
        ? INVALID
        : accepted(converter.read(plain), value, name, location, `The converter for ${name}`);
    },
    fromBlank: undefined,
    toJson: value => converter.write(value),
    schema: () => ({ title: name }),
  };
}

/** Returns what a converter replaces of a type's own codec. For a dto, it also reads text that holds JSON. */
function converted(own: Codec<unknown>, converter: JsonConverter): Partial<Codec<unknown>> {
  const json = { ...converting(converter, own.name), blockedIn: undefined };
  return own.shape === 'object' ? { ...json, fromText: textThrough(json.fromJson, own.name) } : json;
}

/** Reads text by a converter: as a JSON string, or as JSON if the text looks like an object or array. */
function textThrough(fromJson: Codec<unknown>['fromJson'], name: string): Codec<unknown>['fromText'] {
  return (values, location) => {
    const [text = ''] = values;
    if (values.length !== 1) return location.failCount(values.length, name);
    return /^\s*[[{]/.test(text) ? jsonInText(text, location, fromJson) : fromJson(text, location);
  };
}
