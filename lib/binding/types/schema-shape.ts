import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Which JSON a Standard Schema takes, as far as that decides what a text stands for. */
export interface Shape {
  /** Types of JSON; empty if they are not known. */
  readonly takes: ReadonlySet<unknown>;
  /** The shape of an item of an array. */
  readonly item: (index: number) => Shape;
  /** The property of an object under a name, which matches in any case; undefined if there is none. */
  readonly property: (name: string) => { readonly name: string; readonly shape: Shape } | undefined;
}

/** Nothing is known: text is text, and several texts are an array. */
export const UNKNOWN: Shape = {
  takes: new Set(),
  item: () => UNKNOWN,
  property: name => ({ name, shape: UNKNOWN }),
};

/**
 * Asks a schema for its shape, by its JSON Schema (standardschema.dev, Standard JSON Schema): zod and arktype have one.
 */
export function shapeOf(schema: StandardSchemaV1): Shape {
  const { jsonSchema } = schema['~standard'] as {
    readonly jsonSchema?: { readonly input: (options: object) => JsonSchema };
  };
  try {
    // What JSON Schema cannot say, such as a Date of zod, is open then, and no error.
    const root = jsonSchema?.input({ target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } });
    return root ? readerOf(root)(root) : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Makes the function that reads the parts of one JSON Schema, each once: it may refer to itself. */
function readerOf(root: JsonSchema): (node: unknown) => Shape {
  const known = new WeakMap<object, Shape>();
  const read = (node: unknown): Shape => {
    if (typeof node !== 'object' || node === null) return UNKNOWN;
    const shape = known.get(node) ?? made(node as JsonSchema);
    known.set(node, shape);
    return shape;
  };
  const made = (node: JsonSchema): Shape => {
    const { $ref, type, anyOf, oneOf, allOf, enum: values } = node;
    if (typeof $ref === 'string') return read(targetOf($ref, root));
    if (type !== undefined) return typed(node, [type].flat(), read);
    const members = [anyOf ?? oneOf ?? allOf ?? []].flat().map(read);
    if (members.length > 0) return allOf || members.every(({ takes }) => takes.size > 0) ? joined(members) : UNKNOWN;
    const constants = Array.isArray(values) ? values : 'const' in node ? [node['const']] : [];
    return { ...UNKNOWN, takes: new Set(constants.map(one => typeof one)) };
  };
  return read;
}

function typed(node: JsonSchema, types: readonly unknown[], read: (node: unknown) => Shape): Shape {
  const { items, prefixItems = [], properties = {}, additionalProperties } = node;
  const byName = new Map(Object.entries(properties as JsonSchema).map(entry => [entry[0].toLowerCase(), entry]));
  return {
    takes: new Set(types.map(type => (type === 'integer' ? 'number' : type))),
    item: index => read((prefixItems as readonly unknown[])[index] ?? items),
    property(sent) {
      const [name, inner] = byName.get(sent.toLowerCase()) ?? [sent, additionalProperties || undefined];
      return inner === undefined ? undefined : { name, shape: read(inner) };
    },
  };
}

/** Returns what a reference leads to (RFC 6901, section 4). */
const targetOf = (ref: string, root: JsonSchema): unknown =>
  ref
    .split('/')
    .slice(1)
    .map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, part) => (Object(node) as JsonSchema)[part], root);

/** Joins the members of a union: a property may be in several of them. */
function joined(members: readonly Shape[]): Shape {
  return {
    takes: new Set(members.flatMap(({ takes }) => [...takes])),
    item: index => joined(members.filter(({ takes }) => takes.has('array')).map(one => one.item(index))),
    property(sent) {
      const found = members.flatMap(member => member.property(sent) ?? []);
      return found[0] && { ...found[0], shape: joined(found.map(({ shape }) => shape)) };
    },
  };
}
