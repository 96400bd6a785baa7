import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, type Awaitable } from '../../basics/awaitable';
import { INVALID, type Invalid, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { isAccepted, validateNames } from './schema-files';
import { keysOf } from './schema-issues';
import { hasGaps, hasGapsWithin, isIndexed, plainNames, treeAt, type SentNames } from './schema-names';
import { validateInstead, type Result, type Validate } from './schema-retry';

/** What a schema makes of names in one shape. */
interface Read {
  readonly result: Result | Invalid;
  readonly names: SentNames;
}

/**
 * Returns names in their likeliest shape: indexes with gaps are properties. An array would lose them, and the object
 * types of some libraries take arrays.
 */
export const likeliest = (tree: NameTree): SentNames => ({ tree, isObject: hasGaps });

/**
 * Validates names in their likeliest shape. Where the schema refuses an array, it gets an object, and the other way
 * round; if it refuses these, too, it gets arrays everywhere.
 * @param plain the names in that shape, as `plainNames` returns them. It is changed.
 */
export function validateShapes(
  validate: Validate,
  plain: object,
  names: SentNames,
  location: Location,
): Awaitable<Read> {
  const { tree } = names;
  const mayHaveIds = hasGapsWithin(tree);
  const instead: Validate = input => validateInstead(validate, input);
  const read = (check: Validate, isObject: SentNames['isObject'], where: Location): Awaitable<Read> => {
    const other: SentNames = { tree, isObject };
    const made = plainNames(other, where);
    const result = made === INVALID ? INVALID : validateNames(check, made as object, other, where);
    return after(result, known => ({ result: known, names: other }));
  };
  return after(validateNames(mayHaveIds ? instead : validate, plain, names, location), result => {
    const first: Read = { result, names };
    if (isDone(first)) return first;
    const refused = new Set(refusedShapes(first));
    const flipped = refused.size > 0 && read(instead, one => hasGaps(one) !== refused.has(one), location);
    return after(flipped || first, second => {
      if (isDone(second)) return second;
      // A check that fails for all shapes is the application's error.
      const check = isMute(first) ? validate : instead;
      const arrays = mayHaveIds && read(check, () => false, location.aside());
      return after(arrays || first, third =>
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

/** Finds the names with indexes that issues are about. */
function refusedShapes({ result, names }: Read): NameTree[] {
  const issues: readonly StandardSchemaV1.Issue[] = (result !== INVALID && result.issues) || [];
  return issues.flatMap(issue => {
    const tree = treeAt(keysOf(issue), names);
    return tree && isIndexed(tree) ? [tree] : [];
  });
}
