import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Awaitable } from '../../basics/awaitable';
import type { ProblemLocation } from '../../problems/problem';
import type { Location } from '../reading/failures';

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What one endpoint knows of a type: plain data of one of seven kinds. Four functions read and write its values, each
 * with a case for every kind: `readJson`, `readNames`, `written` and `schemaOf`.
 */
export type Codec = ScalarCodec | ListCodec | RecordCodec | ObjectCodec | UnionCodec | FileCodec | SchemaCodec;

/** A type whose values have parts under names. */
export type CodecOfParts = ObjectCodec | UnionCodec | RecordCodec;

/** What each type has. */
interface Named {
  /** As it appears in messages: "int". */
  readonly name: string;
  /** If JSON null is a value, the same type without it. */
  readonly notNull?: Codec | undefined;
  /**
   * Reads a text; undefined if it is none of this type. A scalar without it reads the JSON in the text, and other types
   * have it only if a value parser reads them.
   */
  readonly text?: ((text: string) => unknown) | undefined;
  /** Describes the text, if that is another than the JSON. */
  readonly schemaOfText?: JsonSchema | undefined;
  /** Completes the sentence "The value … is not …". */
  readonly described?: string;
}

/** A condition on the values of a type. */
export interface Rule {
  readonly holds: (value: never) => boolean;
  /** Completes the sentence "The value … must …". */
  readonly says: string;
}

/** What holds for the values of a type, besides what the type itself says. */
interface Ruled extends Named {
  readonly rules?: readonly Rule[];
  /** Rules of the application. */
  readonly checks?: readonly ((value: never) => unknown)[];
  /** The rules in JSON Schema. */
  readonly keywords?: JsonSchema;
}

/** One value, which is one text. */
export interface ScalarCodec extends Ruled {
  readonly kind: 'scalar';
  readonly described: string;
  /** Reads a JSON value; undefined if it is none of this type. Default: `read`. */
  readonly json?: ((value: unknown) => unknown) | undefined;
  /** Reads a JSON value, and reports its failure. */
  readonly read?: ((value: unknown, at: Location) => unknown) | undefined;
  /** Converts a value to what JSON holds for it. Default: the value as it is. */
  readonly write?: ((value: unknown) => unknown) | undefined;
  /** True if any text is a value, also the empty one: then `[WIP]` is text, not broken JSON. */
  readonly takesAnyText?: boolean | undefined;
  /** The value where none was sent; undefined if one is required. */
  readonly whenMissing?: unknown;
  /** True if several texts are joined by commas, as repeated headers are (RFC 9110, section 5.3). */
  readonly isJoined?: boolean;
  /** True if JSON numbers must keep all their digits: a double would round them. */
  readonly needsExactNumbers?: boolean | undefined;
  /** Describes the JSON that is read, and the JSON that is written if that is described otherwise. */
  readonly schema?: JsonSchema | undefined;
  readonly writtenSchema?: JsonSchema | undefined;
}

/** A collection, which is sent as `n`, `n[]` or `n[3]`. */
export interface ListCodec extends Ruled {
  readonly kind: 'list';
  readonly item: Codec;
}

/** An object with names of the client's. */
export interface RecordCodec extends Named {
  readonly kind: 'record';
  readonly item: Codec;
}

/**
 * Reports what is wrong with a dto of type `T`, in its `static check(dto, fail)`.
 * @param name a property, or a path like `items[0].sku`; it is reported under the client's name for it.
 * @param reason a sentence for the client.
 */
export type Fail<T> = (name: (keyof T & string) | `${keyof T & string}${'.' | '['}${string}`, reason: string) => void;

/** Checks the properties of a dto together: its `static check`. */
export type ClassCheck = (dto: object, fail: (name: string, reason: string) => void) => Awaitable<unknown>;

/** An instance of a dto class. */
export interface ObjectCodec extends Named {
  readonly kind: 'object';
  readonly Dto: object;
  readonly create: () => object;
  /** Removes the properties without a value that the class makes. */
  readonly complete: ((dto: object) => void) | undefined;
  /** The `static check` of the class. */
  readonly check: ClassCheck | undefined;
  /** Its properties, once their codecs are known: one can be of this very class. */
  readonly members: readonly Member[];
}

/** An object of one of several classes. */
export interface UnionCodec extends Named {
  readonly kind: 'union';
  /** The property that says which class it is. */
  readonly tag: Member;
  /** The classes by the value of the tag, which each has as a member. */
  readonly branches: ReadonlyMap<unknown, ObjectCodec>;
}

export interface FileCodec extends Ruled {
  readonly kind: 'file';
}

/** Which JSON a Standard Schema takes, as far as that decides what a text stands for. */
export interface Shape {
  /** Types of JSON; empty if they are not known. */
  readonly takes: ReadonlySet<unknown>;
  /** The shape of an item of an array. */
  readonly item: () => Shape;
  /** The property of an object under a name, which matches in any case; undefined if there is none. */
  readonly property: (name: string) => { readonly name: string; readonly shape: Shape } | undefined;
}

/** A Standard Schema. */
export interface SchemaCodec extends Named {
  readonly kind: 'schema';
  readonly standard: StandardSchemaV1;
  readonly json: Shape;
}

/** A property of an object. */
export interface Member {
  readonly property: string;
  readonly jsonName: string;
  /** Name in a form, a route and a query. */
  readonly bindName: string;
  /** Name of the claim, header, cookie or permission. */
  readonly ownName: string;
  readonly codec: Codec;
  readonly required: boolean;
  /** True if JSON null is refused although the value may be missing. */
  readonly refusesNull: boolean;
  /** True if the JSON itself must contain the value. */
  readonly jsonRequired: boolean;
  /** Sources that must not bind to the property. */
  readonly dontBind: readonly ProblemLocation[];
  /** The function that declares it. */
  readonly kind: string;
  readonly fallback: boolean | undefined;
  readonly signed: boolean;
  readonly description: string | undefined;
  readonly default?: unknown;
}

/** True if JSON null is a value. */
export const takesNull = (codec: Codec): boolean =>
  codec.notNull !== undefined || (codec.kind === 'schema' && codec.json.takes.has('null'));

/** Yields the type and all types that it is composed of, each once: a type can contain itself. */
export function* withParts(codec: Codec, seen = new Set<Codec>()): Generator<Codec> {
  if (seen.has(codec)) return;
  seen.add(codec);
  yield codec;
  const parts = 'item' in codec ? [codec.item] : [...objectsOf(codec), ...membersOf(codec).map(member => member.codec)];
  for (const part of parts) yield* withParts(part, seen);
}

/** Returns true for a type with values that need JSON numbers with all their digits. */
export const needsExactNumbers = (codec: Codec): boolean =>
  [...withParts(codec)].some(part => part.kind === 'scalar' && part.needsExactNumbers === true);

/** Returns true for a type whose values are made of names: its own properties, or whichever names it takes. */
export const isReadByName = ({ kind, text }: Codec): boolean =>
  !text && (kind === 'object' || kind === 'union' || kind === 'record' || kind === 'schema');

/** Returns the classes whose properties a type may have. */
export const objectsOf = (codec: Codec): readonly ObjectCodec[] =>
  codec.kind === 'union' ? [...codec.branches.values()] : codec.kind === 'object' ? [codec] : [];

/** Returns the properties that a type may have. */
export const membersOf = (codec: Codec): readonly Member[] => objectsOf(codec).flatMap(({ members }) => members);

/** Returns true for a file, and for a list of files, which are sent as files under one name. */
export const takesFiles = (codec: Codec): boolean =>
  codec.kind === 'file' || (codec.kind === 'list' && takesFiles(codec.item));

/** Returns true for a file, and for a type that contains one. */
export const hasFile = (codec: Codec): boolean => [...withParts(codec)].some(({ kind }) => kind === 'file');

/** Finds a property at any depth, and names its class. */
export function memberIn(codec: Codec, is: (member: Member) => boolean) {
  for (const part of withParts(codec)) {
    const member = part.kind === 'object' ? part.members.find(is) : undefined;
    if (member) return { member, name: `${part.name}.${member.property}` };
  }
  return undefined;
}

/** Returns true if no JSON is read: a value parser reads text only. */
export const isTextOnly = (codec: Codec): boolean =>
  codec.kind === 'list' ? isTextOnly(codec.item) : codec.kind === 'scalar' && !codec.json && !codec.read;
