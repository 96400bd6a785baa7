import type { PropertySpec } from '../declaration/property';
import type { Takers } from './takers';
import { withParts, type Codec } from '../types/codec';

/** @throws TypeError for a type that cannot be bound where it stands. */
export function refuseMisplaced({ kind }: PropertySpec, codec: Codec<unknown>, takers: Takers): void {
  if ((kind === 'fromForm' || kind === 'fromQuery') && codec.shape !== 'object' && codec.shape !== 'schema')
    throw new TypeError(`${kind} takes an object, whose properties are bound by name: a dto class, not ${codec.name}.`);
  if (kind === 'fromBody' && codec.shape === 'file')
    throw new TypeError('it cannot be a file: fromBody takes a JSON body, a file comes from a form.');
  if (kind === 'formField' && takers.has('fromForm'))
    throw new TypeError('formField cannot stand beside fromForm, which takes the whole form.');
  refuseRootOnly(codec);
  if (kind !== 'fromForm' && codec.shape !== 'file') refuseFiles(codec);
}

/** @throws TypeError for a type that contains a file and is not read from a form. */
export function refuseFiles(codec: Codec<unknown>): void {
  if ([...withParts(codec)].some(({ shape }) => shape === 'file'))
    throw new TypeError('it contains a file, and a file comes from a form only; declare it with fromForm.');
}

/** @throws TypeError for a dto that stands inside another and has what is found only at the root of a request. */
export function refuseRootOnly(codec: Codec<unknown>): void {
  for (const { rootOnly } of withParts(codec)) if (rootOnly !== undefined) throw new TypeError(rootOnly);
}
