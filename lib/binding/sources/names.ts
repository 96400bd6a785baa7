import type { RequestInput } from '../input/request-input';
import { readFlat } from '../reading/reading';
import type { Slot } from '../plan/slots';
import { Branch, levelsOf, type Sent } from './branch';
import type { ReadSlot } from './value-source';

/** A name and what was sent under it. */
export type SentPair = readonly [name: string, value: Sent];

/** Reads properties by their names, in any case; a property that takes all names gets the tree that they make. */
export function byName(source: 'form' | 'route' | 'query', pairs: readonly SentPair[], input: RequestInput, slots: readonly Slot[]): ReadSlot | undefined {
  if (pairs.length === 0 && !slots.some(slot => slot.isRoot)) return undefined;
  const tree = Branch.of(pairs.filter(([name]) => isShallow(name, source, input)));
  return slot => {
    if (!slot.isRoot) {
      const branch = tree.at(slot.name);
      return branch && readFlat(slot, branch, input.placeOf(source, slot.name));
    }
    const place = input.placeOf(source, slot.name);
    // The object is there even when nothing was sent for it, unless it may be missing.
    return tree.isEmpty && !slot.required ? undefined : slot.codec.fromNames?.(tree, place);
  };
}

/** A name of too many levels is refused even where nobody asks for it: no client sends one by mistake. */
function isShallow(name: string, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  const { depth } = input.settings.limits;
  // A level takes two characters at least.
  if (name.length <= 2 * depth || levelsOf(name) <= depth + 1) return true;
  input.placeOf(source, name).fail('too-deep', `The name has more than ${depth} levels.`, { limit: depth });
  return false;
}
