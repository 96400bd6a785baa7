import type { JsonObject } from '../reading/json-text';
import type { Location } from '../reading/location';
import { step } from '../reading/name-parts';
import type { NameTree } from '../reading/name-tree';
import { isBlocked, notNull, type Codec, type CodecMember } from './codec';

/** A name of a form or a query that is taken, and the type of its value. */
export interface TakenName {
  readonly name: string;
  readonly codec: Codec;
  /** Index in the name where it continues. */
  readonly from: number;
}

export const takenName = (name: string, codec: Codec): TakenName => ({ name, codec, from: 0 });

/** Refuses the names of a JSON object that no property takes, if the endpoint refuses such names. */
export function refuseOtherKeys(members: readonly CodecMember[], json: JsonObject, at: Location): void {
  if (!at.failures.refusesUnknown) return;
  const taken = new Set(members.filter(member => !isBlocked(member, at)).map(({ jsonName }) => jsonName));
  // A name in a claim or a cookie is its content.
  for (const key of Object.keys(json)) if (!taken.has(key)) failUnknown(at.isSecret ? at : at.below(key));
}

export const failUnknown = (at: Location): unknown => at.fail('unknown', 'No property takes this name.');

/**
 * Finds the names of a form or a query that no property takes.
 * @param isFlat true where names below a name are its indexes only, as everywhere but in `fromForm` and `fromQuery`.
 * @param report called with each name as it was sent.
 */
export function findUnknown(
  tree: NameTree,
  taken: readonly TakenName[],
  at: Location,
  isFlat: boolean,
  report: (name: string) => void,
): void {
  for (const child of tree.below()) {
    const below = taken.flatMap((one): TakenName[] => {
      const [key, from] = step(one.name, one.from);
      return key.toLowerCase() === child.key.toLowerCase() ? [{ ...one, from }] : [];
    });
    const here = below.filter(({ name, from }) => from >= name.length).map(({ codec }) => codec);
    if (here.some(codec => notNull(codec).kind === 'schema')) continue;
    if (child.sentAs !== undefined && here.length === 0) report(child.sentAs);
    const inside = here.flatMap(codec => takenBelow(codec, child, at, isFlat));
    findUnknown(child, [...below.filter(({ name, from }) => from < name.length), ...inside], at, isFlat, report);
  }
}

/** Returns the names below the name of a value that its type takes. */
export function takenBelow(codec: Codec, tree: NameTree, at: Location, isFlat = false): readonly TakenName[] {
  const type = notNull(codec);
  switch (type.kind) {
    case 'list':
      return tree.below().flatMap(({ key }): TakenName[] => (/^\d*$/.test(key) ? [takenName(key, type.item)] : []));
    case 'record':
      return isFlat ? [] : tree.below().map(({ key }) => takenName(key, type.item));
    case 'object':
      if (isFlat) return [];
      return type.fields
        .filter(member => !isBlocked(member, at))
        .map(({ bindName, codec }) => takenName(bindName, codec));
    case 'union': {
      if (isFlat) return [];
      const branch = type.branches.get(tree.at(type.tag.bindName)?.values[0]);
      // Without a branch, which is a failure, the names belong to any.
      return branch ? takenBelow(branch, tree, at) : tree.below().map(({ key }) => takenName(key, type));
    }
    case 'schema':
      return tree.below().map(({ key }) => takenName(key, type));
    case 'scalar':
    case 'file':
      return [];
  }
}
