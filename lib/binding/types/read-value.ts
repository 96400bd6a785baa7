import { after, type Awaitable } from '../../basics/awaitable';
import { INVALID, type Invalid, type Location } from '../reading/location';
import type { NameTree, Sent } from '../reading/name-tree';
import type { Codec } from './codec';

/** The facts that decide how a missing or empty value is treated: is it required, and what does its type accept? */
export interface Expected {
  readonly codec: Codec<unknown>;
  readonly required: boolean;
}

/**
 * Reads text for a property. Empty text is the empty string for a string, and a missing value for an optional property
 * of another type.
 */
export function readText(expected: Expected, values: readonly string[], location: Location): unknown {
  return isNothing(expected, values) ? undefined : expected.codec.fromText(values, location);
}

/** Reads texts that were sent as items: the elements of a claim. */
export function readItems(expected: Expected, values: readonly string[], location: Location): unknown {
  return expected.codec.fromItems ? expected.codec.fromItems(values, location) : readText(expected, values, location);
}

/** Reads the segments of a wildcard route. */
export function readSegments(expected: Expected, segments: readonly string[], location: Location): unknown {
  const { codec } = expected;
  return codec.fromSegments
    ? codec.fromSegments(segments, location)
    : codec.fromItems
      ? codec.fromItems(segments, location)
      : readText(expected, [segments.join('/')], location);
}

/** Reads JSON for a property. For an optional property `null` is a missing value, unless the type accepts null. */
export function readJson({ codec, required }: Expected, value: unknown, location: Location): unknown {
  return value === null && !required && !codec.takesNull ? undefined : codec.fromJson(value, location);
}

/** Reads the values sent under a name, and ignores the names below it. */
export function readFlat(expected: Expected, tree: NameTree, location: Location): unknown {
  if (expected.codec.shape === 'schema' && tree.isArray) return expected.codec.fromNames?.(tree, location, true);
  const sent = expected.codec.isCollection ? tree.collected(location) : tree.values;
  if (sent === INVALID) return INVALID;
  return sent.length === 0 || isNothing(expected, sent)
    ? undefined
    : readSent(expected.codec, sent, tree.isOneValue, location);
}

/**
 * Reads the values sent under a name or below it. A required collection without values is empty: a form has no other
 * way to send an empty one.
 */
export function readNested(expected: Expected, tree: NameTree | undefined, location: Location): unknown {
  const { codec, required } = expected;
  if (!tree || tree.isEmpty) return codec.isCollection && required ? [] : undefined;
  // An undeclared name below must not hide a value of this name.
  const isBelow = tree.values.length === 0 || isSentBelow(codec, tree, location);
  if (codec.fromNames && isBelow) {
    const isEmptyCollection = codec.isCollection && !required && tree.holdsEmptyText;
    if (isEmptyCollection) return undefined;
    const hasUnexpectedFile = !codec.fromFiles && tree.values.some(isFile);
    return hasUnexpectedFile ? failFile(location) : codec.fromNames(tree, location, required);
  }
  return tree.values.length === 0 || isNothing(expected, tree.values)
    ? undefined
    : readSent(codec, tree.values, tree.isOneValue || !codec.isCollection, location);
}

/** Returns true if a name was sent that the type declares: its own, or one below it. */
export function isSent(codec: Codec<unknown>, tree: NameTree | undefined, location: Location): boolean {
  return tree !== undefined && (tree.values.length > 0 || isSentBelow(codec, tree, location));
}

function isSentBelow(codec: Codec<unknown>, tree: NameTree, location: Location): boolean {
  return !tree.isLeaf && codec.isSentBelow?.(tree, location) === true;
}

/**
 * Reads text or files.
 * @param isOneValue true for one text that may hold several items; otherwise each text is one item.
 */
export function readSent<T>(
  codec: Codec<T>,
  sent: readonly Sent[],
  isOneValue: boolean,
  location: Location,
): Awaitable<T | Invalid> {
  const files = sent.filter(isFile);
  if (files.length === 0) {
    const texts = sent as readonly string[];
    return isOneValue || !codec.fromItems ? codec.fromText(texts, location) : codec.fromItems(texts, location);
  }
  if (!codec.fromFiles) return failFile(location);
  return files.length === sent.length
    ? codec.fromFiles(files, location)
    : location.fail('file-expected', 'Some values of this field are text; send only files.');
}

const isFile = (sent: Sent): sent is Exclude<Sent, string> => typeof sent !== 'string';

const failFile = (location: Location): Invalid => location.fail('file-unexpected', 'Send text here, not a file.');

/**
 * Handles a missing value: undefined if it is optional, otherwise the type's own value for it, otherwise a failure.
 * @param detail the message for a missing value here.
 */
export function readNothing({ codec, required }: Expected, location: Location, detail?: string): unknown {
  if (!required) return undefined;
  if (!codec.fromNothing) return location.failMissing(detail);
  const here = location.stay();
  return after(codec.fromNothing(), made => (made === INVALID ? here.failMissing(detail) : made));
}

function isNothing({ codec, required }: Expected, sent: readonly Sent[]): boolean {
  return !required && !codec.takesEmptyText && sent.length === 1 && sent[0] === '';
}
