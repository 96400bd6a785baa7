import { failure, type ParseResult, type PropertyType } from './property-type';

/**
 * Makes a type of one value. A parser gets the whole text and takes all of it or nothing.
 * @param fromJson how a JSON value is read; without it, JSON strings are parsed like other text.
 */
export function scalar<T>(name: string, parse: (text: string) => ParseResult<T>, fromJson?: (value: unknown) => ParseResult<T>): PropertyType<T> {
  const parseJson = fromJson ?? ((value: unknown) => (typeof value === 'string' ? parse(value) : failure));
  return {
    name,
    shape: 'scalar',
    fromText(values, place) {
      if (values.length !== 1) return place.fail(`There are ${values.length} values where one ${name} is expected.`);
      const [text = ''] = values;
      const result = parse(text);
      return result.success ? result.value : place.failValue(text, name);
    },
    fromJson(value, place) {
      const result = parseJson(value);
      return result.success ? result.value : place.failValue(value, name);
    },
  };
}

/** Any text. Repeated values are joined, as a repeated header is (RFC 9110, section 5.3). */
export const string: PropertyType<string> = {
  name: 'string',
  shape: 'scalar',
  takesEmptyText: true,
  fromText: values => values.join(','),
  fromJson: (value, place) => (typeof value === 'string' ? value : place.failValue(value, 'string')),
};

/** `true` or `false` in any case; nothing else. */
export const bool: PropertyType<boolean> = scalar(
  'bool',
  text => {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === 'false' ? { success: true, value: word === 'true' } : failure;
  },
  value => (typeof value === 'boolean' ? { success: true, value } : failure),
);
