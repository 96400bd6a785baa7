import { isJsonText, jsonInText, splitAtCommas } from '../reading/json-text';
import type { INVALID } from '../reading/location';
import { type Location } from '../reading/location';
import type { Sent } from '../reading/name-tree';
import { mayTakeFiles, notNull, type AnyCodec, type Codec, type FileCodec, type ScalarCodec } from './codec';
import { each, failNoFile, readJson, type Expected } from './read-json';
import { keepsRules } from './rules';
import { blankOfSchema, schemaFromItems, schemaFromSegments, schemaFromText } from './schema';

/**
 * Reads text for a property. Empty text is the empty string for a string, and a missing value for an optional property
 * of another type; a schema decides what it is.
 */
export function readText(expected: Expected, values: readonly string[], at: Location): unknown {
  return isBlank(expected, values) ? readBlank(expected.codec, at) : textsOf(expected.codec, values, at);
}

/** Reads texts that were sent as items: the elements of a claim. */
export function readItems(expected: Expected, values: readonly string[], at: Location): unknown {
  return hasItems(expected.codec) ? itemsOf(expected.codec, values, at) : readText(expected, values, at);
}

/** Reads the segments of a wildcard route. */
export function readSegments(expected: Expected, segments: readonly string[], at: Location): unknown {
  const type = notNull(expected.codec);
  if (type.kind === 'schema') return schemaFromSegments(type, segments, at);
  return type.kind === 'list' ? itemsOf(type, segments, at) : readText(expected, [segments.join('/')], at);
}

/** Returns true if empty text is all that was sent for a value that may be missing. */
export const isBlank = ({ required }: Expected, sent: readonly Sent[]): boolean =>
  !required && sent.length === 1 && sent[0] === '';

export function readBlank(codec: Codec, at: Location): unknown {
  const type = notNull(codec);
  if (type.kind === 'schema') return blankOfSchema(type, '');
  return type.kind === 'scalar' && type.takesAnyText ? textsOf(type, [''], at) : undefined;
}

/**
 * Reads text or files.
 * @param isOneValue true for one text that may hold several items; otherwise each text is one item.
 * @param indexes the indexes that the client has sent, if any.
 */
export function readSent(
  codec: Codec,
  sent: readonly Sent[],
  isOneValue: boolean,
  at: Location,
  indexes?: readonly number[],
): unknown {
  const files = sent.filter(isFile);
  if (files.length === 0) {
    const texts = sent as readonly string[];
    return isOneValue || !hasItems(codec) ? textsOf(codec, texts, at) : itemsOf(codec, texts, at, indexes);
  }
  if (!mayTakeFiles(codec)) return failFile(at);
  return files.length === sent.length
    ? filesOf(codec, files, at)
    : at.fail('file-expected', 'Some values of this field are text; send only files.');
}

export const isFile = (sent: Sent): sent is Exclude<Sent, string> => typeof sent !== 'string';

export const failFile = (at: Location): typeof INVALID => at.fail('file-unexpected', 'Send text here, not a file.');

const hasItems = (codec: Codec): boolean => ['list', 'schema'].includes(notNull(codec).kind);

/**
 * Reads the text under a name. If there is one text, it holds the whole value: a collection is split at commas, or read
 * as JSON.
 */
function textsOf(codec: AnyCodec, values: readonly string[], at: Location): unknown {
  const [text = ''] = values;
  const isOne = values.length === 1;
  switch (codec.kind) {
    case 'scalar':
      if (isOne || codec.isJoined) return textOf(codec, values.join(','), at);
      return at.failCount(values.length, codec.name);
    case 'nullable':
      // The text of an object is its JSON, and so is that of null; for another type, it may be a text like any other.
      if (isOne && text.trim() === 'null' && ['object', 'union', 'record'].includes(notNull(codec).kind)) return null;
      return textsOf(codec.inner, values, at);
    case 'list': {
      if (!isOne) return itemsOf(codec, values, at);
      const json = arrayIn(text, codec.item);
      return json === undefined
        ? itemsOf(codec, splitAtCommas(text), at)
        : jsonInText(json, at, (value, inside) => readJson(codec, value, inside));
    }
    case 'object':
    case 'union':
    case 'record':
      return isOne
        ? jsonInText(text, at, (value, inside) => readJson(codec, value, inside))
        : at.failCount(values.length, 'JSON object');
    case 'file':
      return failNoFile(at);
    case 'schema':
      return schemaFromText(codec, values, at);
  }
}

function textOf(codec: ScalarCodec, text: string, at: Location): unknown {
  if (codec.text) {
    const read = codec.text(text);
    if (read === undefined) return at.failValue(text, codec.name, undefined, codec.described);
    return keepsRules(codec, read, at);
  }
  // A converter reads JSON; text without brackets is a string of it.
  return /^\s*[[{]/.test(text)
    ? jsonInText(text, at, (value, inside) => readJson(codec, value, inside))
    : readJson(codec, text, at);
}

/**
 * Reads texts, each of which is one item.
 * @param indexes the indexes that the client has sent, if any.
 */
function itemsOf(codec: AnyCodec, values: readonly string[], at: Location, indexes?: readonly number[]): unknown {
  const type = notNull(codec);
  if (type.kind === 'schema') return schemaFromItems(type, values, at);
  if (type.kind !== 'list') return textsOf(codec, values, at);
  // A failure of a single item is reported under the name that was sent: without an index, unless that has one.
  const hasIndexes = values.length > 1 || indexes !== undefined;
  const read = each(values, at, (one, position) =>
    textsOf(
      type.item,
      [at.source === 'header' ? one.trim() : one],
      hasIndexes ? at.below(indexes?.[position] ?? position) : at,
    ),
  );
  return keepsRules(type, read, at);
}

function filesOf(codec: Codec, files: readonly Express.Multer.File[], at: Location): unknown {
  const type = notNull(codec);
  const [only] = files;
  const count = files.length;
  if (type.kind === 'list') {
    const read = each(files, at, one => filesOf(type.item, [one], at));
    return keepsRules(type, read, at);
  }
  if (type.kind === 'schema') return schemaFromItems(type, files, at);
  return only && count === 1
    ? keepsRules(type as FileCodec, only, at)
    : at.fail('several-files', `There are ${count} files where one is expected.`, { count });
}

/** Returns the JSON array that a text is meant as; undefined if the text is no JSON. */
function arrayIn(only: string, item: Codec): string | undefined {
  const text = only.trim();
  const type = notNull(item);
  const takesAnyText = type.kind === 'schema' || (type.kind === 'scalar' && type.takesAnyText === true);
  if (text.startsWith('[') && (!takesAnyText || isJsonText(text))) return text;
  // A guid can be in braces, too, so braces alone do not make it JSON.
  if (text.startsWith('{') && (type.kind !== 'scalar' || isJsonText(`[${text}]`))) return `[${text}]`;
  return undefined;
}
