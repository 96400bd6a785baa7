import type { RequestInput } from '../input/request-input';
import type { Found } from '../reading/found';
import type { Place } from '../reading/place';
import { readFlat } from '../reading/reading';
import type { Slot } from '../plan/slots';
import { Branch, levelsOf, type Sent } from './branch';

/** A name and what was sent under it, unless it could not be decoded. */
export type SentPair = readonly [name: string, value: Sent, ...fault: readonly 'unreadable'[]];

/** Reads properties by their names, in any case; a property that takes all names gets the tree that they make. */
export function readByName(
  source: 'form' | 'route' | 'query',
  pairs: readonly SentPair[],
  input: RequestInput,
  slots: readonly Slot[],
  found: Found,
): void {
  if (pairs.length === 0 && !slots.some(slot => slot.isRoot)) return;
  const tree = Branch.of(
    pairs.filter(pair => isReadable(pair, name => input.placeOf(source, name)) && isShallow(pair[0], source, input)),
  );
  for (const slot of slots) {
    const { index, codec, required, name, isRoot } = slot;
    const branch = isRoot ? tree : tree.at(name);
    if (!branch) continue;
    const place = input.placeOf(source, name);
    // An object that takes all names is there even when none of them was sent, unless it may be missing.
    found.put(index, isRoot ? codec.fromNames?.(branch, place, required) : readFlat(slot, branch, place));
  }
}

/** A name or a value that cannot be decoded is refused even where no property asks for it: it may be a name that one asks for. */
export function isReadable([name, , fault]: SentPair, placeOf: (name: string) => Place): boolean {
  if (fault === undefined) return true;
  placeOf(name).fail('invalid', 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.');
  return false;
}

/** A name of too many levels is refused even where nobody asks for it: no client sends one by mistake. */
function isShallow(name: string, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  const { depth } = input.settings.limits;
  // A level takes two characters at least.
  if (name.length <= 2 * depth || levelsOf(name) <= depth + 1) return true;
  input.placeOf(source, name).fail('too-deep', `The name has more than ${depth} levels.`, { limit: depth });
  return false;
}
