import type { Awaitable } from '../reading/awaitable';
import type { Invalid, Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';

/**
 * Reads the values of one type, as one endpoint is configured, and writes them as JSON. Text comes from forms, routes,
 * queries, claims, headers and cookies; JSON from a body, or from text that holds JSON. A failure is noted at the place.
 */
export interface Codec<T> {
  /** As it appears in messages: "int", "list of guid". */
  readonly name: string;
  /** What the type is made for, where that decides how it is looked up. */
  readonly shape: 'scalar' | 'list' | 'object' | 'schema' | 'file';
  /** True when empty text is a value. */
  readonly takesEmptyText?: boolean;
  /** True when no text is refused for its form: `[WIP]` is text like any other. */
  readonly takesAnyText?: boolean;
  /** True when JSON `null` is a value. */
  readonly takesNull?: boolean;
  /** True when JSON numbers must keep all their digits for it: a double would round them. */
  readonly needsExactNumbers?: boolean;
  /** True when several values make one: it is spelled `n`, `n[]` or `n[3]`. */
  readonly isCollection?: boolean;
  /** Why it cannot stand inside another type, if it cannot. */
  readonly notNestable?: string;
  /** A property of an object: what it is called in JSON and elsewhere, and its codec. */
  readonly memberOf?: (property: string) => CodecMember | undefined;
  /** The property that is called so outside of JSON, in lower case. */
  readonly memberCalled?: (name: string) => CodecMember | undefined;
  /** The types that it is made of. */
  readonly parts?: () => Iterable<Codec<unknown>>;
  /** From the text under a name. One text is all of the value: a collection is split at commas, or read as JSON. */
  fromText(values: readonly string[], location: Location): Awaitable<T | Invalid>;
  /** From texts that were sent as the items of a collection: each is one item, and no text is taken apart. */
  fromItems?(values: readonly string[], location: Location): Awaitable<T | Invalid>;
  /** From the segments of a wildcard route. Default: they are one text, with slashes in between. */
  fromSegments?(segments: readonly string[], location: Location): Awaitable<T | Invalid>;
  readonly fromJson: ReadJson<T>;
  /**
   * From the names below one name: `parent.child`, `items[0].field`.
   * @returns undefined where nothing is required and none of its own names was sent.
   */
  fromNames?(tree: NameTree, location: Location, required: boolean): Awaitable<T | undefined | Invalid>;
  /** True when one of its own names was sent, at any depth: a name that it does not declare does not count. */
  isSentBelow?(tree: NameTree, location: Location): boolean;
  fromFiles?(files: readonly Express.Multer.File[], location: Location): Awaitable<T | Invalid>;
  /** What a missing value comes to; invalid when one is required. */
  fromNothing?(): Awaitable<T | Invalid>;
  /** What is written for a value; without it, the value as it is. Gets whatever a handler hands over, but never null or undefined. */
  readonly toJson?: (value: unknown) => unknown;
}

/** Reads a JSON value. */
export interface ReadJson<T> {
  (value: unknown, location: Location): Awaitable<T | Invalid>;
  /** Does the same without a look at where the value stands; undefined for what it refuses. */
  readonly fast?: (value: unknown) => T | undefined;
}

export interface CodecMember {
  readonly jsonName: string;
  readonly name: string;
  readonly codec: Codec<unknown>;
}

/** What is written in JSON for a value; nothing and null stay what they are. */
export function written(codec: Codec<unknown>, value: unknown): unknown {
  return codec.toJson && value !== undefined && value !== null ? codec.toJson(value) : value;
}

/** The type and all the types that it is made of, each once: a type can contain itself. */
export function* withParts(codec: Codec<unknown>, seen = new Set<Codec<unknown>>()): Generator<Codec<unknown>> {
  if (seen.has(codec)) return;
  seen.add(codec);
  yield codec;
  for (const part of codec.parts?.() ?? []) yield* withParts(part, seen);
}

/** True when it, or what it is made of, needs JSON numbers with all their digits. */
export function needsExactNumbers(codec: Codec<unknown>): boolean {
  return [...withParts(codec)].some(part => part.needsExactNumbers);
}
