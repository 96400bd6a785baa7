import { orNull, type JsonSchema } from '../../binding/types/json-schema';
import { typesOf } from './value-types';

/** Two schemas that no JSON value fits. */
export interface Clash {
  /** The property that they are of, with those around it: `line.sku`; empty for the whole value. */
  readonly path: string;
  /** What each of them takes: `string or null`. */
  readonly takes: readonly [string, string];
}

/** Returns the schema that a reference leads to. */
export type Resolve = (reference: string) => JsonSchema;

/** What is known of the pairs of schemas that were compared. A schema may contain itself. */
type Known = Map<string, Clash | undefined>;

/**
 * Finds what no JSON value can be for two schemas, by their types, enumerations and required properties; undefined if a
 * value may fit both. Formats and patterns are not compared: they say what clients should write, and binding reads
 * more. `00000000000000000000000000000007` is a guid, a long and a decimal.
 */
export function clashOf(
  one: JsonSchema,
  other: JsonSchema,
  resolve: Resolve,
  known: Known = new Map(),
): Clash | undefined {
  const pair = JSON.stringify([one, other]);
  if (known.has(pair)) return known.get(pair);
  known.set(pair, undefined);
  const [ones, others] = [kindsOf(one, resolve), kindsOf(other, resolve)];
  const clashes = ones.flatMap(a =>
    others.filter(b => isSameKind(a, b)).map(b => clashOfProperties(a.schema, b.schema, resolve, known)),
  );
  const nothing: Clash = { path: '', takes: [wordsFor(ones), wordsFor(others)] };
  const clash = clashes.includes(undefined) ? undefined : (clashes[0] ?? nothing);
  known.set(pair, clash);
  return clash;
}

/** Values of one type, or one value, that a schema takes. */
interface Kind {
  readonly type: string;
  /** A value of an enumeration, in lower case. */
  readonly value?: string;
  readonly schema: JsonSchema;
}

/** @param within the references that lead here. */
function kindsOf(schema: JsonSchema, resolve: Resolve, within: readonly string[] = []): Kind[] {
  const { $ref, anyOf, oneOf, const: only, enum: members = only === undefined ? undefined : [only] } = schema;
  if (typeof $ref === 'string') return within.includes($ref) ? [] : kindsOf(resolve($ref), resolve, [...within, $ref]);
  const parts = anyOf ?? oneOf;
  if (Array.isArray(parts)) return (parts as JsonSchema[]).flatMap(part => kindsOf(part, resolve, within));
  return Array.isArray(members) ? kindsOfMembers(members, schema) : typesOf(schema).map(type => ({ type, schema }));
}

/**
 * Lists what an enumeration takes: `enumOf` takes its names and values as text, in any case, and numbers both as
 * numbers and as text.
 */
function kindsOfMembers(members: readonly unknown[], schema: JsonSchema): Kind[] {
  const names = [schema['x-enum-varnames'] ?? []].flat();
  return [...members, ...names].flatMap((member): Kind[] => {
    if (member === null) return [{ type: 'null', schema }];
    if (typeof member !== 'string' && typeof member !== 'number')
      return typesOf(schema).map(type => ({ type, schema }));
    const value = String(member).toLowerCase();
    const types = Number.isNaN(Number(value)) ? ['string'] : ['string', 'number'];
    return types.map(type => ({ type, value, schema }));
  });
}

const isSameKind = (one: Kind, other: Kind): boolean =>
  one.type === other.type && (one.value === undefined || other.value === undefined || one.value === other.value);

/**
 * Compares the properties that a value must have for one of two schemas. Where it need not, null stands for nothing.
 */
function clashOfProperties(one: JsonSchema, other: JsonSchema, resolve: Resolve, known: Known): Clash | undefined {
  const others = propertiesOf(other);
  for (const [name, property] of propertiesOf(one)) {
    const same = others.get(name);
    if (!same || !(property.required || same.required)) continue;
    const clash = clashOf(sent(property), sent(same), resolve, known);
    if (clash) return { ...clash, path: clash.path === '' ? name : `${name}.${clash.path}` };
  }
  return undefined;
}

interface Property {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

const sent = ({ schema, required }: Property): JsonSchema => (required ? schema : orNull(schema));

function propertiesOf({ properties = {}, required = [] }: JsonSchema): ReadonlyMap<string, Property> {
  const names = required as readonly string[];
  const all = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return new Map(all.map(([name, schema]) => [name, { schema, required: names.includes(name) }]));
}

const wordsFor = (kinds: readonly Kind[]): string =>
  [...new Set(kinds.map(({ type, value }) => (value === undefined ? type : JSON.stringify(value))))].join(' or ');
