import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Which JSON a Standard Schema takes, as far as that decides what a text stands for. */
export interface Shape {
  /** Types of JSON; empty if they are not known. */
  readonly takes: ReadonlySet<unknown>;
  /** The shape of the items of an array. */
  readonly item: (index: number) => Shape;
  /** The properties of an object, by their names in lower case. */
  readonly properties: () => ReadonlyMap<string, { readonly name: string; readonly shape: Shape }>;
  /** The shape of all other properties; undefined if there are none. */
  readonly others: () => Shape | undefined;
}

/** Nothing is known: text is text, and several texts are an array. */
export const UNKNOWN: Shape = {
  takes: new Set(),
  item: () => UNKNOWN,
  properties: () => new Map(),
  others: () => UNKNOWN,
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
    const options = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } };
    const root = jsonSchema?.input(options);
    return root ? new Reader(root).read(root) : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Reads the parts of one JSON Schema, each once: it may refer to itself. */
class Reader {
  private readonly known = new WeakMap<object, Shape>();

  constructor(private readonly root: JsonSchema) {}

  read(node: unknown): Shape {
    if (typeof node !== 'object' || node === null) return UNKNOWN;
    const known = this.known.get(node) ?? this.made(node as JsonSchema);
    this.known.set(node, known);
    return known;
  }

  private made(node: JsonSchema): Shape {
    const { $ref, type, anyOf, oneOf, allOf, enum: values } = node;
    if (typeof $ref === 'string') return this.read(this.target($ref));
    if (type !== undefined) return this.typed(node, [type].flat());
    const members = [anyOf ?? oneOf ?? allOf ?? []].flat().map(one => this.read(one));
    if (members.length > 0) return allOf || members.every(({ takes }) => takes.size > 0) ? joined(members) : UNKNOWN;
    const constants = Array.isArray(values) ? values : 'const' in node ? [node['const']] : [];
    return constants.length > 0 ? { ...UNKNOWN, takes: new Set(constants.map(one => typeof one)) } : UNKNOWN;
  }

  private typed(node: JsonSchema, types: readonly unknown[]): Shape {
    const { items, prefixItems, properties = {}, additionalProperties } = node;
    let byName: ReturnType<Shape['properties']> | undefined;
    return {
      takes: new Set(types.map(type => (type === 'integer' ? 'number' : type))),
      item: index => this.read((prefixItems as readonly unknown[] | undefined)?.[index] ?? items),
      properties: () =>
        (byName ??= new Map(
          Object.entries(properties as JsonSchema).map(([name, one]) => [
            name.toLowerCase(),
            { name, shape: this.read(one) },
          ]),
        )),
      others: () => (additionalProperties ? this.read(additionalProperties) : undefined),
    };
  }

  private target(ref: string): unknown {
    let node: unknown = this.root;
    for (const part of ref.split('/').slice(1))
      // RFC 6901, section 4.
      node = (Object(node) as JsonSchema)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')];
    return node;
  }
}

/** Joins the members of a union: a property may be in several of them. */
function joined(members: readonly Shape[]): Shape {
  const arrays = members.filter(({ takes }) => takes.has('array'));
  return {
    takes: new Set(members.flatMap(({ takes }) => [...takes])),
    item: index => joined(arrays.map(one => one.item(index))),
    properties: () => {
      const all = new Map<string, { name: string; shape: Shape }>();
      for (const [key, one] of members.flatMap(member => [...member.properties()])) {
        const other = all.get(key);
        all.set(key, other ? { ...one, shape: joined([other.shape, one.shape]) } : one);
      }
      return all;
    },
    others: () => members.map(one => one.others()).find(one => one !== undefined),
  };
}
