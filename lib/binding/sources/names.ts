import type { RequestInput } from './request-input';
import type { RequestValues } from '../reading/request-values';
import type { Location } from '../reading/location';
import { readFlat } from '../types/read-value';
import type { SourceProperty } from '../plan/source-properties';
import { NameTree, levelsOf, type Sent } from '../reading/name-tree';

/** A name and what was sent under it, unless it could not be decoded. */
export type SentPair = readonly [name: string, value: Sent, ...fault: readonly 'unreadable'[]];

/** Reads properties by their names, in any case; a property that takes all names gets the tree that they make. */
export function readByName(
  source: 'form' | 'route' | 'query',
  pairs: readonly SentPair[],
  input: RequestInput,
  sourceProperties: readonly SourceProperty[],
  found: RequestValues,
): void {
  if (pairs.length === 0 && !sourceProperties.some(sourceProperty => sourceProperty.isRoot)) return;
  const root = NameTree.of(
    pairs.filter(pair => isReadable(pair, name => input.locationOf(source, name)) && isShallow(pair[0], source, input)),
  );
  for (const sourceProperty of sourceProperties) {
    const { index, codec, required, name, isRoot } = sourceProperty;
    const tree = isRoot ? root : root.at(name);
    if (!tree) continue;
    const location = input.locationOf(source, name);
    // An object that takes all names is there even when none of them was sent, unless it may be missing.
    found.put(index, isRoot ? codec.fromNames?.(tree, location, required) : readFlat(sourceProperty, tree, location));
  }
}

/** A name or a value that cannot be decoded is refused even where no property asks for it: it may be a name that one asks for. */
export function isReadable([name, , fault]: SentPair, locationOf: (name: string) => Location): boolean {
  if (fault === undefined) return true;
  locationOf(name).fail('invalid', 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.');
  return false;
}

/** A name of too many levels is refused even where nobody asks for it: no client sends one by mistake. */
function isShallow(name: string, source: 'form' | 'route' | 'query', input: RequestInput): boolean {
  const { depth } = input.settings.limits;
  // A level takes two characters at least.
  if (name.length <= 2 * depth || levelsOf(name) <= depth + 1) return true;
  input.locationOf(source, name).fail('too-deep', `The name has more than ${depth} levels.`, { limit: depth });
  return false;
}
