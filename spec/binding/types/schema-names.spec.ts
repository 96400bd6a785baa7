import { Failures } from '../../../lib/binding/reading/failures';
import { resolveLimits } from '../../../lib/binding/reading/limits';
import { Location } from '../../../lib/binding/reading/location';
import { NameTree } from '../../../lib/binding/reading/name-tree';
import { plainNames } from '../../../lib/binding/types/schema-names';
import { hasGapsWithin, likeliest } from '../../../lib/binding/types/schema-shapes';
import { collectGarbage } from '../../support/garbage';

const FIELDS = 5_000;
const LEVELS = 29;

const inUse = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** The names as a tree and as a schema gets them, and the bytes that both take for each level of each name. */
function read(below: string): { plain: object; bytes: number } {
  const names = Array.from({ length: FIELDS }, (_, index) => [`q.f${index}${below.repeat(LEVELS)}`, 'x'] as const);
  const location = new Location(new Failures(resolveLimits()), 'form', 't');
  const before = inUse();
  const tree = NameTree.of(names);
  const plain = plainNames(likeliest(tree), location) as object;
  hasGapsWithin(tree);
  const bytes = (inUse() - before) / (FIELDS * LEVELS);
  // The tree, too, is in use until here.
  expect(tree.below()).toHaveLength(1);
  return { plain, bytes };
}

// Of two characters of the client: a form of 1 MiB has half a million levels.
it.each([
  ['properties', '.x', 300],
  ['items', '.0', 450],
])('names of many levels take bounded memory for each: %s', (_what, below, most) => {
  const { plain, bytes } = read(below);
  expect(Object.keys((plain as { q: object }).q)).toHaveLength(FIELDS);
  expect(bytes).toBeLessThan(most);
});
