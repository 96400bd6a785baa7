import type { SourceProperty } from '../binding/plan/source-properties';
import { schemaOfNames } from '../binding/declaration/describe';
import { hasFile, notNull, takesFiles, type Codec } from '../binding/types/codec';
import type { JsonSchema, Schemas } from '../binding/types/json-schema';
import { schemaOfText, withoutNull, type Value } from './values';

/**
 * Takes the object apart that binds all names of a form or query; undefined if its names are not known. Objects with
 * files cannot be sent as JSON, so their properties are sent under names of their own: `cover.picture`,
 * `pages[0].picture`.
 */
export function valuesOf({ codec, required }: SourceProperty, schemas: Schemas): Value[] | undefined {
  return namesOf(codec, '', required, [codec], schemas);
}

/**
 * @param prefix of the names: `pages[0].`.
 * @param around the types that are being taken apart: a type may contain itself.
 */
function namesOf(
  codec: Codec,
  prefix: string,
  required: boolean,
  around: readonly Codec[],
  schemas: Schemas,
): Value[] | undefined {
  const { properties, required: names = [] } = schemaOfNames(codec, schemas);
  const type = notNull(codec);
  if (properties === undefined) return undefined;
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([property, schema]) => {
    const name = `${prefix}${property}`;
    const isRequired = required && (names as readonly string[]).includes(property);
    const member = type.kind === 'object' ? type.fields.find(one => one.bindName === property)?.codec : undefined;
    const below = member && holdsFiles(member) ? namesBelow(member, name, isRequired, around, schemas) : undefined;
    const own = member ? schemaOfText(member, schema, schemas) : withoutNull(schema);
    return below ?? [{ name, required: isRequired, schema: own }];
  });
}

/** Takes an object, or the first of a list of objects, below a name apart; undefined for a type without properties. */
function namesBelow(
  codec: Codec,
  name: string,
  required: boolean,
  around: readonly Codec[],
  schemas: Schemas,
): Value[] | undefined {
  const type = notNull(codec);
  // OpenAPI cannot list names of any depth.
  if (around.some(one => notNull(one) === type)) return [];
  const within = [...around, codec];
  if (type.kind !== 'list') return namesOf(codec, `${name}.`, required, within, schemas);
  // Which items there are is not known, so no name is required.
  return namesBelow(type.item, `${name}[0]`, false, within, schemas);
}

const holdsFiles = (codec: Codec): boolean => !takesFiles(codec) && hasFile(codec);
