import type { PropertySpec } from '../declaration/property';
import type { WholeSources } from './whole-source';
import { withParts, type Codec } from '../types/codec';

/** @throws TypeError for a type that cannot be bound where it stands. */
export function checkPlacement({ kind }: PropertySpec, codec: Codec<unknown>, wholeSources: WholeSources): void {
  if ((kind === 'fromForm' || kind === 'fromQuery') && codec.shape !== 'object' && codec.shape !== 'schema')
    throw new TypeError(`${kind} takes an object, whose properties are bound by name: a dto class, not ${codec.name}.`);
  if (kind === 'fromBody' && codec.shape === 'file')
    throw new TypeError('it cannot be a file: fromBody takes a JSON body, a file comes from a form.');
  if (kind === 'formField' && wholeSources.has('fromForm'))
    throw new TypeError('formField cannot stand beside fromForm, which takes the whole form.');
  checkNestable(codec);
  if (kind !== 'fromForm' && codec.shape !== 'file') checkHasNoFile(codec);
}

/** @throws TypeError for a type that contains a file and is not read from a form. */
export function checkHasNoFile(codec: Codec<unknown>): void {
  if ([...withParts(codec)].some(({ shape }) => shape === 'file'))
    throw new TypeError('it contains a file, and a file comes from a form only; declare it with fromForm.');
}

/** @throws TypeError for a dto that stands inside another and has what is found only at the root of a request. */
export function checkNestable(codec: Codec<unknown>): void {
  for (const { notNestable } of withParts(codec)) if (notNestable !== undefined) throw new TypeError(notNestable);
}
