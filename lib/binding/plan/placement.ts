import type { PropertySpec } from '../declaration/property';
import { fileIn, hasFile, isReadByName, takesFiles, withParts, type Codec } from '../types/codec';
import type { WholeSources } from './whole-source';

/** Checks that a type fits the declaration. @throws TypeError */
export function checkPlacement({ kind }: PropertySpec, codec: Codec, wholeSources: WholeSources): void {
  if ((kind === 'fromForm' || kind === 'fromQuery') && !isReadByName(codec))
    throw new TypeError(`${kind} takes an object, whose properties are bound by name: a dto class, not ${codec.name}.`);
  if (kind === 'fromBody' && takesFiles(codec))
    throw new TypeError('it cannot be a file: fromBody takes a JSON body, and files come from a form.');
  if ((kind === 'formField' || takesFiles(codec)) && wholeSources.has('fromForm')) {
    const what = kind === 'formField' ? kind : 'a file';
    throw new TypeError(
      `${what} cannot be combined with fromForm, which takes the whole form; declare it in the type of fromForm.`,
    );
  }
  checkNestable(codec);
  if (kind !== 'fromForm' && !takesFiles(codec)) checkHasNoFile(codec);
}

/** @throws TypeError for a type that contains a file but is not read from a form. */
export function checkHasNoFile(codec: Codec): void {
  if (hasFile(codec))
    throw new TypeError(
      `it contains a file${nameOf(codec)}, and files come only from a form; declare it with fromForm.`,
    );
}

/**
 * @throws TypeError for a type that contains a file: what multer says about it has its path on the server, or its
 * bytes.
 */
export function checkIsWritable(codec: Codec): void {
  if (hasFile(codec))
    throw new TypeError(
      `it contains a file${nameOf(codec)}, which a response cannot; ` +
        'declare what the response says about it, for example its size.',
    );
}

function nameOf(codec: Codec): string {
  const name = fileIn(codec);
  return name === undefined ? '' : ` (${name})`;
}

/** @throws TypeError for a nested dto with a property that binds only at the root of a request. */
export function checkNestable(codec: Codec): void {
  const reason = notNestableIn(codec);
  if (reason !== undefined) throw new TypeError(reason);
}

/** Names the first property that binds only at the root of a request, and says so; undefined if there is none. */
export function notNestableIn(codec: Codec): string | undefined {
  for (const part of withParts(codec))
    if (part.kind === 'object' && part.notNestable !== undefined) return part.notNestable;
  return undefined;
}
