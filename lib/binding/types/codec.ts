import type { Awaitable } from '../../basics/awaitable';
import type { Invalid, Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import type { Describable, JsonSchema, Schemas } from './json-schema';

/**
 * Reads the values of one type, as one endpoint is configured, and writes them as JSON. Text comes from forms, routes,
 * queries, claims, headers and cookies; JSON from a body, or from text that holds JSON. Failures are reported at the
 * location.
 */
export interface Codec<T> extends Describable {
  /** As it appears in messages: "int", "list of guid". */
  readonly name: string;
  /** Kind of type, where that decides how its values are looked up. */
  readonly shape: 'scalar' | 'list' | 'object' | 'schema' | 'file';
  /** True if empty text is a value. */
  readonly takesEmptyText?: boolean;
  /** True if any text is valid: then `[WIP]` is text, not broken JSON. */
  readonly takesAnyText?: boolean;
  /** True if JSON `null` is a value. */
  readonly takesNull?: boolean;
  /** True if JSON numbers must keep all their digits: a double would round them. */
  readonly needsExactNumbers?: boolean;
  /** True for a collection, which is sent as `n`, `n[]` or `n[3]`. */
  readonly isCollection?: boolean;
  /** Set if the type cannot be nested in another one: the reason, as an error message. */
  readonly notNestable?: string;
  /** Finds a property of an object: its names in JSON and elsewhere, and its codec. */
  readonly memberOf?: (property: string) => CodecMember | undefined;
  /** Names the first property of an object for whose codec the test holds. */
  readonly propertyOf?: (test: (codec: Codec<unknown>) => boolean) => string | undefined;
  /** Returns true if what is sent under a name as a file of JSON is data, and no file: a schema takes all names. */
  readonly takesJsonAt?: (name: string) => boolean;
  /** Finds the property whose `bindName` is a name that was sent, or the beginning of it. */
  readonly memberAt?: (name: string) => CodecMember | undefined;
  /** The types that this one is composed of. */
  readonly parts?: () => Iterable<Codec<unknown>>;
  /**
   * Reads the text under a name. If there is one text, it holds the whole value: a collection is split at commas, or
   * read as JSON.
   */
  fromText(values: readonly string[], location: Location): Awaitable<T | Invalid>;
  /**
   * Reads texts that were sent as the items of a collection: each is one item, and no text is split.
   * @param indexes the indexes that the client has sent, for the names of failures. Default: the positions.
   */
  fromItems?(values: readonly string[], location: Location, indexes?: readonly number[]): Awaitable<T | Invalid>;
  /** Reads the segments of a wildcard route. Default: they are one text, joined by slashes. */
  fromSegments?(segments: readonly string[], location: Location): Awaitable<T | Invalid>;
  readonly fromJson: ReadJson<T>;
  /**
   * Reads the names below one name: `parent.child`, `items[0].field`.
   * @returns undefined if no value is required and none of the type's own names was sent.
   */
  fromNames?(tree: NameTree, location: Location, required: boolean): Awaitable<T | undefined | Invalid>;
  /** Returns true if one of the type's own names was sent, at any depth. Undeclared names do not count. */
  isSentBelow?(tree: NameTree, location: Location): boolean;
  fromFiles?(files: readonly Express.Multer.File[], location: Location): Awaitable<T | Invalid>;
  /**
   * Reads empty text or JSON `null` for a value that may be missing; undefined if it counts as missing. Default:
   * `takesEmptyText` and `takesNull` decide.
   */
  fromBlank?(blank: '' | null): Awaitable<T | undefined>;
  /** Returns the value to use if none was sent; INVALID if one is required. */
  fromNothing?(): Awaitable<T | Invalid>;
  /**
   * Converts a value to what JSON holds for it. Default: the value as it is. It gets any value that a handler may pass,
   * except null and undefined.
   */
  readonly toJson?: (value: unknown) => unknown;
  /** Describes the text of the type, if that is another than its JSON. */
  readonly schemaOfText?: (schemas: Schemas) => JsonSchema;
  /** True if no JSON is read: a value parser reads text only. */
  readonly isTextOnly?: boolean;
  /** Describes an object under the names that it has in a form or a query. Default: as in JSON. */
  readonly schemaOfNames?: (schemas: Schemas) => JsonSchema;
}

/** Reads a JSON value. */
export interface ReadJson<T> {
  (value: unknown, location: Location): Awaitable<T | Invalid>;
  /** Fast path: reads the value without tracking its location. Returns undefined if the value is invalid. */
  readonly fast?: (value: unknown) => T | undefined;
}

/** A property of an object. */
export interface CodecMember {
  readonly jsonName: string;
  /** Name in a form, a route and a query. */
  readonly bindName: string;
  readonly codec: Codec<unknown>;
}

/** Yields the type and all types that it is composed of, each once: a type can contain itself. */
export function* withParts(codec: Codec<unknown>, seen = new Set<Codec<unknown>>()): Generator<Codec<unknown>> {
  if (seen.has(codec)) return;
  seen.add(codec);
  yield codec;
  for (const part of codec.parts?.() ?? []) yield* withParts(part, seen);
}

/** Returns true if the test holds for the type, or for one that it is composed of. */
export function someWithin(codec: Codec<unknown>, test: (part: Codec<unknown>) => boolean): boolean {
  return [...withParts(codec)].some(test);
}

/** Returns true for a type with values that need JSON numbers with all their digits. */
export const needsExactNumbers = (codec: Codec<unknown>): boolean =>
  someWithin(codec, part => part.needsExactNumbers === true);

/** Returns true for a type whose values are made of names: its own properties, or whichever names a schema takes. */
export const isReadByName = ({ shape }: Codec<unknown>): boolean => shape === 'object' || shape === 'schema';

/** Returns true for a file, and for a list of files, which are sent as files under one name. */
export const takesFiles = ({ shape, parts }: Codec<unknown>): boolean =>
  shape === 'file' || (shape === 'list' && [...(parts?.() ?? [])].some(takesFiles));

/** Returns true for a file, and for a type that contains one. */
export const hasFile = (codec: Codec<unknown>): boolean => someWithin(codec, ({ shape }) => shape === 'file');

/** Names the class and the property that is a file; undefined if the file is not in a dto. */
export function fileIn(codec: Codec<unknown>): string | undefined {
  for (const { name, propertyOf } of withParts(codec)) {
    const property = propertyOf?.(takesFiles);
    if (property !== undefined) return `${name}.${property}`;
  }
  return undefined;
}
