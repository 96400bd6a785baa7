import type { SourceProperty } from '../../binding/plan/source-properties';
import { schemaOfNames } from '../../binding/declaration/describe';
import { hasFile, isCollection, notNull, takesFiles, type Codec } from '../../binding/types/codec';
import type { JsonSchema, Schemas } from '../../binding/types/json-schema';
import { withoutNull } from '../schemas/value-types';
import { schemaOfText, type Value } from './values';

/** The part of a name that is the index of an item: `[0]`, `[1]` and so on. */
const INDEX = Symbol('index');
type Path = readonly (string | typeof INDEX)[];

/**
 * Takes the object apart that binds all names of a form or query; undefined if its names are not known. Objects with
 * files cannot be sent as JSON, so their properties are sent under names of their own: `cover.picture`,
 * `pages[0].picture`.
 */
export function valuesOf({ codec, required }: SourceProperty, schemas: Schemas): Value[] | undefined {
  return namesOf(codec, [], required, [codec], schemas);
}

/** @param open the types that are being taken apart, outermost first: a type may contain itself. */
function namesOf(
  codec: Codec,
  path: Path,
  required: boolean,
  open: readonly Codec[],
  schemas: Schemas,
): Value[] | undefined {
  const { properties, required: names = [] } = schemaOfNames(codec, schemas);
  if (properties === undefined) return undefined;
  const type = notNull(codec);
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, schema]) => {
    const isRequired = required && (names as readonly string[]).includes(name);
    const here = [...path, ...(path.length > 0 ? ['.'] : []), name];
    const member = (type.kind === 'object' ? type.fieldAt(name) : undefined)?.codec;
    const below = member && holdsFiles(member) ? namesBelow(member, here, isRequired, open, schemas) : undefined;
    return below ?? [valueAt(here, isRequired, member ? schemaOfText(member, schema, schemas) : withoutNull(schema))];
  });
}

/** Takes an object, or a list of objects, below a name apart; undefined for a type without properties. */
function namesBelow(
  codec: Codec,
  path: Path,
  required: boolean,
  open: readonly Codec[],
  schemas: Schemas,
): Value[] | undefined {
  const type = notNull(codec);
  if (open.some(one => notNull(one) === type)) return [valuesAgain(codec, path)];
  const within = [...open, codec];
  return type.kind === 'list'
    ? namesBelow(type.item, [...path, INDEX], true, within, schemas)
    : namesOf(codec, path, required, within, schemas);
}

const holdsFiles = (codec: Codec): boolean => !takesFiles(codec) && hasFile(codec);

function valueAt(path: Path, required: boolean, schema: JsonSchema): Value {
  const first = spelled(path, 0);
  if (!path.includes(INDEX)) return { name: first, required, schema };
  const { description = '', ...rest } = schema as { readonly description?: string };
  const sent = `Sent as ${first}, ${spelled(path, 1)} and so on${required ? '; every item must have it' : ''}.`;
  return {
    name: first,
    // Which items there are is not known, so no name is required.
    required: false,
    pattern: patternOf(path),
    schema: { ...rest, description: description === '' ? sent : `${description} ${sent}` },
  };
}

/** Describes the names of a type inside itself: OpenAPI has no way to list names of any depth. */
const valuesAgain = (codec: Codec, path: Path): Value => ({
  name: spelled(path, 0),
  required: false,
  pattern: `${patternOf(path).slice(0, -1)}[.\\[]`,
  schema: {
    description:
      `Names that begin with ${spelled(path, 0)}${isCollection(codec) ? '[0]' : ''} continue like those of the ` +
      `${codec.name} around it.`,
  },
});

const spelled = (path: Path, index: number): string =>
  path.map(part => (part === INDEX ? `[${index}]` : part)).join('');

const patternOf = (path: Path): string =>
  `^${path.map(part => (part === INDEX ? '\\[[0-9]+\\]' : part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'))).join('')}$`;
