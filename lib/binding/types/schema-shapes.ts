import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, type Awaitable } from '../../basics/awaitable';
import { INVALID, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { isAccepted, validateNames } from './schema-files';
import { keysOf } from './schema-issues';
import { plainNames, treeAt, type SentNames } from './schema-names';
import { validateInstead, type Result, type Validate } from './schema-retry';

/** What a schema makes of names in one shape. */
interface Read {
  readonly result: Result | Invalid;
  readonly names: SentNames;
}

/** Names in their likeliest shape: indexes with gaps (`stock[17]=2`) are properties. An array would lose them. */
export const likeliest = (tree: NameTree): SentNames => ({ tree, isObject: one => one.hasGaps });

/** Names of which all with indexes are arrays, whose gaps are closed up. */
export const asArrays = (tree: NameTree): SentNames => ({ tree, isObject: () => false });

/** Returns true if there are indexes with gaps below a name, at any depth. */
export const hasGapsWithin = (tree: NameTree): boolean => tree.hasGaps || tree.below().some(hasGapsWithin);

/**
 * Validates names in their likeliest shape. Where the schema refuses an object for indexes with gaps, it gets an array;
 * if it refuses that, too, it gets arrays everywhere.
 * @param plain the names in that shape, as `plainNames` returns them. It is changed.
 */
export function validateShapes(
  validate: Validate,
  plain: object,
  names: SentNames,
  location: Location,
): Awaitable<Read> {
  const { tree } = names;
  if (!hasGapsWithin(tree))
    return after(validateNames(validate, plain, names, location), result => ({ result, names }));
  const instead: Validate = input => validateInstead(validate, input);
  const read = (check: Validate, other: SentNames, where: Location): Awaitable<Read> => {
    const made = plainNames(other, where);
    const result = made === INVALID ? INVALID : validateNames(check, made as object, other, where);
    return after(result, known => ({ result: known, names: other }));
  };
  return after(validateNames(instead, plain, names, location), result => {
    const first: Read = { result, names };
    if (isDone(first)) return first;
    const refused = new Set(refusedShapes(first));
    const isObject = (one: NameTree): boolean => one.hasGaps && !refused.has(one);
    return after(refused.size > 0 ? read(instead, { tree, isObject }, location) : first, second => {
      if (isDone(second)) return second;
      // A check that fails for all shapes is the application's error.
      const check = isMute(first) ? validate : instead;
      return after(read(check, asArrays(tree), location.aside()), third =>
        isAccepted(third.result) ? third : likeliestOf([first, second, third].filter(isReported)),
      );
    });
  });
}

/** Returns true if no other shape is to be tried. A failure that is reported already does not depend on the shape. */
const isDone = ({ result }: Read): boolean => result === INVALID || !result.issues;

/** Returns true if a schema refused a shape without saying why: its own check failed for it. */
const isMute = ({ result }: Read): boolean => result !== INVALID && result.issues?.length === 0;

const isReported = ({ result }: Read): boolean => result !== INVALID;

/** Returns the refusal with the fewest issues about the shape itself; the last one of several. */
function likeliestOf(all: readonly Read[]): Read {
  const counts = all.map(one => (isMute(one) ? Infinity : refusedShapes(one).length));
  return all[counts.lastIndexOf(Math.min(...counts))] as Read;
}

/** Finds the names with gaps that issues are about. */
function refusedShapes({ result, names }: Read): NameTree[] {
  const issues: readonly StandardSchemaV1.Issue[] = (result !== INVALID && result.issues) || [];
  return issues.flatMap(issue => {
    const tree = treeAt(keysOf(issue), names);
    return tree?.hasGaps ? [tree] : [];
  });
}
