import { readFile } from 'node:fs/promises';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Awaitable } from '../../basics/awaitable';
import { decodedText } from '../../body/content/decode';
import { isJsonType } from '../../body/content/media-type';
import { INVALID, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { keysOf } from './schema-issues';
import { plainNames, type SentNames } from './schema-names';
import { validateAgain, validateInstead, type Result, type Validate } from './schema-retry';

type File = Express.Multer.File;

/** A file of JSON, and the text in it. */
interface JsonFile {
  readonly file: File;
  readonly text: string;
}

/**
 * Validates all names of a query or a form. A file of JSON may be data, as generated clients send objects, or a file:
 * a schema gets the file first, and then the text in it if it refuses the file or makes another value of it.
 * @param plain the names, as `plainNames` returns them. It is changed.
 */
export function validateNames(
  validate: Validate,
  plain: object,
  names: SentNames,
  location: Location,
): Awaitable<Result | Invalid> {
  const files = jsonFilesIn(names.tree, location);
  if (files.length === 0) return validateAgain(validate, plain, location, names);
  const asTexts: Validate = input => validateInstead(validate, input);
  return validateWithFiles();

  async function validateWithFiles(): Promise<Result | Invalid> {
    const first = await validate(plain);
    const data = await textsOf(files.filter(file => !isTaken(file, plain, first)));
    if (data.length === 0) return first.issues ? validateAgain(validate, plain, location, names) : first;
    const again = (): object => plainNames(names, location) as object;
    const filed = first.issues ? await validateAgain(validate, again(), location.aside(), names) : first;
    if (isAccepted(filed) && data.every(({ file }) => holds(filed.value, file))) return filed;
    const read = await validateAgain(asTexts, withTexts(again(), data) as object, location.aside(), names);
    if (isAccepted(read)) return read;
    if (isAccepted(filed)) return filed;
    // Once more, to report what is refused: in the texts, unless the schema has nothing to say of them.
    const isMute = read !== INVALID && read.issues.length === 0;
    return isMute
      ? validateAgain(validate, again(), location, names)
      : validateAgain(asTexts, withTexts(again(), data) as object, location, names);
  }
}

export const isAccepted = (result: Result | Invalid): result is StandardSchemaV1.SuccessResult<unknown> =>
  result !== INVALID && !result.issues;

/** Finds the files of JSON, unless they are longer than JSON may be. */
function jsonFilesIn(tree: NameTree, { limits }: Location): readonly File[] {
  // Other parsers than multer leave null for a file without a type.
  const files = [...filesIn(tree)].filter(({ mimetype }: Partial<File>) => isJsonType((mimetype ?? '').toLowerCase()));
  const size = files.reduce((bytes, file) => bytes + file.size, 0);
  return size <= limits.bodyBytes ? files : [];
}

function* filesIn(tree: NameTree): Generator<File> {
  for (const value of tree.values) if (typeof value !== 'string') yield value;
  for (const below of tree.below()) yield* filesIn(below);
}

/** Returns true if a schema takes a file as it is: its result holds the file, or its issues are about other values. */
const isTaken = (file: File, plain: object, result: Result): boolean =>
  result.issues ? !result.issues.some(issue => leadsTo(file, plain, keysOf(issue))) : holds(result.value, file);

/** Returns true if a path leads to a file, or into it. */
function leadsTo(file: File, plain: object, path: readonly (string | number)[]): boolean {
  let value: unknown = plain;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || value === file) break;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value === file;
}

function holds(value: unknown, file: File, seen = new Set<unknown>()): boolean {
  if (value === file) return true;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return false;
  seen.add(value);
  return Object.values(value).some(one => holds(one, file, seen));
}

async function textsOf(files: readonly File[]): Promise<JsonFile[]> {
  const texts = await Promise.all(files.map(textIn));
  return files.flatMap((file, at) => (texts[at] === undefined ? [] : [{ file, text: texts[at] }]));
}

/** Returns undefined for a file whose content is not here, as with storages in a cloud, or is not text. */
async function textIn({ buffer, path }: Partial<File>): Promise<string | undefined> {
  try {
    const bytes = buffer ?? (path ? await readFile(path) : undefined);
    return bytes && decodedText(bytes);
  } catch {
    return undefined;
  }
}

/** Copies what was sent, with the texts of files in their places. */
function withTexts(value: unknown, data: readonly JsonFile[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = data.find(({ file }) => file === value);
  if (known) return known.text;
  if (Array.isArray(value)) return value.map(one => withTexts(one, data));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTexts(one, data)]));
}
