import type { RequestInput } from '../input/request-input';
import type { Found } from '../reading/found';
import { readFlat } from '../reading/reading';
import type { Slot } from '../plan/slots';
import { Branch, levelsOf, type Sent } from './branch';

/** A name and what was sent under it. */
export type SentPair = readonly [name: string, value: Sent];

/** Reads properties by their names, in any case; a property that takes all names gets the tree that they make. */
export function readByName(source: 'form' | 'route' | 'query', pairs: readonly SentPair[], input: RequestInput, slots: readonly Slot[], found: Found): void {
  if (pairs.length === 0 && !slots.some(slot => slot.isRoot)) return;
  const tree = Branch.of(pairs.filter(([name]) => isShallow(name, source, input)));
  for (const slot of slots) {
    const { index, codec, required, name, isRoot } = slot;
    const branch = isRoot ? tree : tree.at(name);
    // What takes all names is there even when nothing was sent for it, unless it may be missing.
    if (!branch || (isRoot && tree.isEmpty && !required)) continue;
    const place = input.placeOf(source, name);
    found.put(index, isRoot ? codec.fromNames?.(branch, place) : readFlat(slot, branch, place));
  }
}

/** A name of too many levels is refused even where nobody asks for it: no client sends one by mistake. */
function isShallow(name: string, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  const { depth } = input.settings.limits;
  // A level takes two characters at least.
  if (name.length <= 2 * depth || levelsOf(name) <= depth + 1) return true;
  input.placeOf(source, name).fail('too-deep', `The name has more than ${depth} levels.`, { limit: depth });
  return false;
}
