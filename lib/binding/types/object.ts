import { isLosslessNumber } from 'lossless-json';
import { jsonInText } from '../json-text';
import { INVALID, type Invalid, type Place } from '../place';
import { readJson } from '../read-slot';
import { instantiate, propertiesOf, type PropertySpec } from '../property';
import type { DtoClass, PropertyType } from './property-type';

const made = new WeakMap<DtoClass<unknown>, PropertyType<unknown>>();

/** The type of a dto class that stands inside another: it is read from JSON, in a body or in one text value. */
export function objectType<T>(Dto: DtoClass<T>): PropertyType<T> {
  const known = made.get(Dto);
  if (known) return known as PropertyType<T>;
  const properties = propertiesOf(Dto);
  if (properties.size === 0) throw new TypeError(`${Dto.name || 'This class'} has no declared properties; declare them with dto({...}) or decorators.`);
  for (const [name, { kind }] of properties) {
    if (kind !== 'field') throw new TypeError(`${Dto.name}.${name}: ${kind} binds only at the root of a request; a nested dto is read from JSON, so declare it with field or a bare type.`);
  }
  const fromJson = (value: unknown, place: Place): T | Invalid => readObject(Dto, properties, value, place);
  const type: PropertyType<T> = {
    name: Dto.name || 'object',
    shape: 'object',
    keepsDigits: [...properties.values()].some(property => property.type.keepsDigits),
    fromJson,
    fromText(values, place) {
      const [text = ''] = values;
      return values.length === 1 ? jsonInText(text, place, fromJson) : place.fail(`There are ${values.length} values where one JSON object is expected.`);
    },
  };
  made.set(Dto, type);
  return type;
}

/** Only declared properties are read, and only the object's own: `__proto__` and `constructor` are names like any other. */
function readObject<T>(Dto: DtoClass<T>, properties: ReadonlyMap<string, PropertySpec>, json: unknown, place: Place): T | Invalid {
  if (!isJsonObject(json)) return place.failValue(json, 'JSON object');
  const dto = instantiate(Dto, properties);
  let valid = true;
  for (const [property, spec] of properties) {
    const { jsonPropertyName = property, required } = spec;
    const value = Object.hasOwn(json, jsonPropertyName) ? json[jsonPropertyName] : undefined;
    const at = place.property(jsonPropertyName);
    const read = value !== undefined ? readJson(spec, value, at) : required ? at.failMissing() : undefined;
    if (read === INVALID) valid = false;
    else if (read !== undefined) Object.assign(dto, { [property]: read });
  }
  return valid ? dto : INVALID;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
