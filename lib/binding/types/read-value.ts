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
 * of another type; a schema decides what it is.
 */
export function readText(expected: Expected, values: readonly string[], location: Location): unknown {
  const { codec } = expected;
  return isBlank(expected, values) ? readBlank(codec, location) : codec.fromText(values, location);
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
  if (value !== null || required) return codec.fromJson(value, location);
  if (codec.fromBlank) return codec.fromBlank(null);
  return codec.takesNull ? codec.fromJson(value, location) : undefined;
}

/** Reads the values sent under a name, and ignores the names below it. */
export function readFlat(expected: Expected, tree: NameTree, location: Location): unknown {
  const { codec, required } = expected;
  if (codec.shape === 'schema' && tree.isArray)
    return !required && tree.holdsEmptyText ? undefined : codec.fromNames?.(tree, location, true);
  if (!codec.isCollection) return readUnlessBlank(expected, tree.values, tree, location);
  const sent = tree.collected(location);
  return sent === INVALID ? INVALID : readUnlessBlank(expected, sent.values, tree, location, sent.indexes);
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
    const isCollection = codec.isCollection === true || (codec.shape === 'schema' && tree.isArray);
    const isEmptyCollection = isCollection && !required && tree.holdsEmptyText;
    if (isEmptyCollection) return undefined;
    const hasUnexpectedFile = !codec.fromFiles && tree.values.some(isFile);
    return hasUnexpectedFile ? failFile(location) : codec.fromNames(tree, location, required);
  }
  return readUnlessBlank(expected, tree.values, tree, location);
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
 * @param indexes the indexes that the client has sent, if any.
 */
export function readSent<T>(
  codec: Codec<T>,
  sent: readonly Sent[],
  isOneValue: boolean,
  location: Location,
  indexes?: readonly number[],
): Awaitable<T | Invalid> {
  const files = sent.filter(isFile);
  if (files.length === 0) {
    const texts = sent as readonly string[];
    return isOneValue || !codec.fromItems ? codec.fromText(texts, location) : codec.fromItems(texts, location, indexes);
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

function readUnlessBlank(
  expected: Expected,
  sent: readonly Sent[],
  tree: NameTree,
  location: Location,
  indexes?: readonly number[],
): unknown {
  const { codec } = expected;
  if (sent.length === 0) return undefined;
  if (isBlank(expected, sent)) return readBlank(codec, location);
  return readSent(codec, sent, tree.isOneValue, location, indexes);
}

/** Returns true if empty text is all that was sent for a value that may be missing. */
const isBlank = ({ required }: Expected, sent: readonly Sent[]): boolean =>
  !required && sent.length === 1 && sent[0] === '';

function readBlank(codec: Codec<unknown>, location: Location): unknown {
  if (codec.fromBlank) return codec.fromBlank('');
  return codec.takesEmptyText ? codec.fromText([''], location) : undefined;
}
