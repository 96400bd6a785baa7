import type { SourceProperty } from '../binding/plan/source-properties';
import { hasFile, takesFiles, type Codec } from '../binding/types/codec';
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
  codec: Codec<unknown>,
  prefix: string,
  required: boolean,
  around: readonly Codec<unknown>[],
  schemas: Schemas,
): Value[] | undefined {
  const { properties, required: names = [] } = schemaOfNames(codec, schemas);
  if (properties === undefined) return undefined;
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([property, schema]) => {
    const name = `${prefix}${property}`;
    const isRequired = required && (names as readonly string[]).includes(property);
    const member = codec.memberAt?.(property)?.codec;
    const below = member && holdsFiles(member) ? namesBelow(member, name, isRequired, around, schemas) : undefined;
    const own = member ? schemaOfText(member, schema, schemas) : withoutNull(schema);
    return below ?? [{ name, required: isRequired, schema: own }];
  });
}

/** Takes an object, or the first of a list of objects, below a name apart; undefined for a type without properties. */
function namesBelow(
  codec: Codec<unknown>,
  name: string,
  required: boolean,
  around: readonly Codec<unknown>[],
  schemas: Schemas,
): Value[] | undefined {
  // A wrapper such as `optional` copies the codec, but not its functions. OpenAPI cannot list names of any depth.
  if (around.some(({ parts }) => parts === codec.parts)) return [];
  const within = [...around, codec];
  if (!codec.isCollection) return namesOf(codec, `${name}.`, required, within, schemas);
  const [item] = codec.parts?.() ?? [];
  // Which items there are is not known, so no name is required.
  return item && namesBelow(item, `${name}[0]`, false, within, schemas);
}

const holdsFiles = (codec: Codec<unknown>): boolean => !takesFiles(codec) && hasFile(codec);

/** Describes an object under the names that it has in a form or query. */
export const schemaOfNames = (codec: Codec<unknown>, schemas: Schemas): JsonSchema =>
  (codec.schemaOfNames ?? codec.schema)?.(schemas) ?? {};
