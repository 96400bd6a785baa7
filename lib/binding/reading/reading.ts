import { after, type Awaitable } from './awaitable';
import { INVALID, type Invalid, type Place } from './place';
import type { Branch, Sent } from '../sources/branch';
import type { Codec } from '../types/codec';

/** What decides how nothing is read: whether a value must be there, and what its type takes. */
export interface Expected {
  readonly codec: Codec<unknown>;
  readonly required: boolean;
}

/** Reads text for a property. Empty text is a missing value where one may be missing; for a string it is the empty string. */
export function readText(expected: Expected, values: readonly string[], place: Place): unknown {
  return isNothing(expected, values) ? undefined : expected.codec.fromText(values, place);
}

/** Reads texts that were sent as items: the elements of a claim. */
export function readItems(expected: Expected, values: readonly string[], place: Place): unknown {
  return expected.codec.fromItems ? expected.codec.fromItems(values, place) : readText(expected, values, place);
}

/** Reads the segments of a wildcard route. */
export function readSegments(expected: Expected, segments: readonly string[], place: Place): unknown {
  const { codec } = expected;
  return codec.fromSegments
    ? codec.fromSegments(segments, place)
    : codec.fromItems
      ? codec.fromItems(segments, place)
      : readText(expected, [segments.join('/')], place);
}

/** Reads JSON for a property. `null` is a missing value where one may be missing, unless the type takes it. */
export function readJson({ codec, required }: Expected, value: unknown, place: Place): unknown {
  return value === null && !required && !codec.takesNull ? undefined : codec.fromJson(value, place);
}

/** Reads what was sent under a name; what was sent below it belongs to nobody. */
export function readFlat(expected: Expected, branch: Branch, place: Place): unknown {
  if (expected.codec.shape === 'schema' && branch.isArray) return expected.codec.fromNames?.(branch, place, true);
  const sent = expected.codec.isCollection ? branch.collected(place) : branch.values;
  if (sent === INVALID) return INVALID;
  return sent.length === 0 || isNothing(expected, sent)
    ? undefined
    : readSent(expected.codec, sent, branch.isOneValue, place);
}

/** Reads what was sent under a name or below it. A collection of which nothing was sent is empty: a form cannot say so otherwise. */
export function readNested(expected: Expected, branch: Branch | undefined, place: Place): unknown {
  const { codec, required } = expected;
  if (!branch || branch.isEmpty) return codec.isCollection && required ? [] : undefined;
  // A value is not lost because of a stranger's name below it.
  if (codec.fromNames && !branch.isLeaf && (branch.values.length === 0 || codec.isSentBelow?.(branch, place))) {
    if (codec.isCollection && !required && branch.holdsEmptyText) return undefined;
    return !codec.fromFiles && branch.values.some(isFile) ? failFile(place) : codec.fromNames(branch, place, required);
  }
  return branch.values.length === 0 || isNothing(expected, branch.values)
    ? undefined
    : readSent(codec, branch.values, true, place);
}

/** True when a name was sent that the type declares: its own, or one below it. */
export function isSent(codec: Codec<unknown>, branch: Branch | undefined, place: Place): boolean {
  return (
    branch !== undefined &&
    (branch.values.length > 0 || (!branch.isLeaf && (codec.isSentBelow?.(branch, place) ?? false)))
  );
}

/**
 * Reads text or files.
 * @param isOneValue whether one text was sent as such, which may hold several items; else each text is an item.
 */
export function readSent<T>(
  codec: Codec<T>,
  sent: readonly Sent[],
  isOneValue: boolean,
  place: Place,
): Awaitable<T | Invalid> {
  const files = sent.filter(isFile);
  if (files.length === 0) {
    const texts = sent as readonly string[];
    return isOneValue || !codec.fromItems ? codec.fromText(texts, place) : codec.fromItems(texts, place);
  }
  if (!codec.fromFiles) return failFile(place);
  return files.length === sent.length
    ? codec.fromFiles(files, place)
    : place.fail('file-expected', 'Text was sent among files.');
}

const isFile = (sent: Sent): sent is Exclude<Sent, string> => typeof sent !== 'string';

const failFile = (place: Place): Invalid => place.fail('file-unexpected', 'A file was sent where a value is expected.');

/**
 * What a missing value comes to: nothing where it may be missing, else what the type itself makes of nothing, else a failure.
 * @param detail what is said of a missing value here.
 */
export function readNothing({ codec, required }: Expected, place: Place, detail?: string): unknown {
  if (!required) return undefined;
  if (!codec.fromNothing) return place.failMissing(detail);
  const here = place.stay();
  return after(codec.fromNothing(), made => (made === INVALID ? here.failMissing(detail) : made));
}

function isNothing({ codec, required }: Expected, sent: readonly Sent[]): boolean {
  return !required && !codec.takesEmptyText && sent.length === 1 && sent[0] === '';
}
