import { jsonInText, plainJson } from '../reading/json-text';
import { INVALID } from '../reading/location';
import type { Codec } from './codec';
import type { JsonConverter } from './json-converter';
import { accepted } from './parse-result';
import type { ValueParser } from './value-parser';

/** Makes the reading of text by a value parser. It takes precedence over the type's own parser, and reads no JSON. */
export function parsing(
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

/** Makes the reading and writing of JSON by a converter. */
export function converting(
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

/** Makes what a converter replaces of a type's own codec. For a dto, it also reads text that holds JSON. */
export function converted(own: Codec<unknown>, converter: JsonConverter): Partial<Codec<unknown>> {
  const json = converting(converter, own.name);
  return own.shape === 'object' ? { ...json, fromText: textThrough(json.fromJson, own.name) } : json;
}

/** Reads text by a converter: as a JSON string, or as JSON if the text looks like an object or array. */
export function textThrough(fromJson: Codec<unknown>['fromJson'], name: string): Codec<unknown>['fromText'] {
  return (values, location) => {
    const [text = ''] = values;
    if (values.length !== 1) return location.failCount(values.length, name);
    return /^\s*[[{]/.test(text) ? jsonInText(text, location, fromJson) : fromJson(text, location);
  };
}
