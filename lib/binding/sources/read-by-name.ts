import type { FoundValues } from '../reading/found-values';
import { INVALID } from '../reading/location';
import { readFlat, readNames } from '../types/read-names';
import type { SourceProperty } from '../plan/source-properties';
import { firstPart, hasParts, levelsOf } from '../reading/name-parts';
import { NameTree, type Sent } from '../reading/name-tree';
import { failUnknown, findUnknown, takenBelow, takenName, type TakenName } from '../types/unknown-names';
import type { RequestInput } from './request-input';

/** A name and the value sent under it, and what is to be known about them, as in `Pair`. */
export type SentPair = readonly [name: string, value: Sent, ...mark: readonly ('unreadable' | 'item')[]];

/** Reads properties by their case-insensitive names. A property that takes all names gets the whole tree. */
export function readByName(
  source: 'form' | 'route' | 'query',
  pairs: readonly SentPair[],
  input: RequestInput,
  sourceProperties: readonly SourceProperty[],
  found: FoundValues,
): void {
  const hasRoot = sourceProperties.some(sourceProperty => sourceProperty.isRoot);
  if (pairs.length === 0 && !hasRoot) return;
  // A route has the parameters that its path declares, and one value is read without a dto.
  const refusesUnknown = input.options.unknownNames === 'refuse' && source !== 'route' && input.plan !== undefined;
  const single = hasRoot || refusesUnknown ? undefined : singleValues(pairs);
  if (single) {
    for (const sourceProperty of sourceProperties) {
      const value = single.get(sourceProperty.anyCase);
      if (value === undefined) continue;
      const location = input.locationOf(source, sourceProperty.name);
      found.put(sourceProperty.index, readFlat(sourceProperty, NameTree.leaf(value), location));
    }
    return;
  }
  const root = NameTree.of(pairs.filter(pair => isReadable(pair, source, input) && isShallow(pair[0], source, input)));
  const undecodable = new Set(pairs.filter(([, , mark]) => mark === 'unreadable').map(([name]) => firstPart(name)));
  for (const sourceProperty of sourceProperties) {
    const { index, codec, required, name, isRoot } = sourceProperty;
    const tree = isRoot ? root : root.at(name);
    // Such a value was sent: the property is not missing in another source.
    if (!isRoot && undecodable.has(firstPart(name))) found.put(index, INVALID);
    if (!tree) continue;
    const location = input.locationOf(source, name);
    // A required object that takes all names exists even if none of them was sent.
    found.put(index, isRoot ? readNames(codec, tree, location, required) : readFlat(sourceProperty, tree, location));
  }
  if (!refusesUnknown) return;
  const here = input.locationOf(source, '');
  const taken = sourceProperties.flatMap(({ codec, name, isRoot }): readonly TakenName[] =>
    isRoot ? takenBelow(codec, root, here) : [takenName(name, codec)],
  );
  findUnknown(root, taken, here, !hasRoot, name => failUnknown(input.locationOf(source, name)));
}

/**
 * Returns the values by their names in lower case, if each name has one value and no part below: most requests are like
 * that, and need no tree.
 */
function singleValues(pairs: readonly SentPair[]): ReadonlyMap<string, Sent> | undefined {
  const values = new Map<string, Sent>();
  for (const [name, value, mark] of pairs) {
    const anyCase = name.toLowerCase();
    if (mark !== undefined || hasParts(name) || values.has(anyCase)) return undefined;
    values.set(anyCase, value);
  }
  return values;
}

/** Refuses a name or value that cannot be decoded, even under an unknown name: decoded, it might be a declared one. */
function isReadable([name, , mark]: SentPair, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  if (mark !== 'unreadable') return true;
  input
    .locationOf(source, name)
    .failUndecodable('The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.');
  return false;
}

/** Refuses a name of too many levels, even an undeclared one: no client sends one by mistake. */
function isShallow(name: string, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  const { depth } = input.options.limits;
  // A level takes at least two characters.
  if (name.length <= 2 * depth || levelsOf(name) <= depth + 1) return true;
  input.locationOf(source, name).fail('too-deep', `The name has more than ${depth} levels.`, { limit: depth });
  return false;
}
