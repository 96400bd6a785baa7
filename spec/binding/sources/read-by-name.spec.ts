import fc from 'fast-check';
import { bind, bool, dto, int, list, optional, Problem, string } from '../../../lib';

class Range extends dto({ from: int, to: optional(int) }) {}
class Search extends dto({
  page: optional(int),
  rush: optional(bool),
  name: optional(string),
  ids: optional(list(int)),
  range: optional(Range),
}) {}

const name = fc.constantFrom('page', 'PAGE', 'rush', 'name', 'ids', 'Ids', 'range', 'other', '');
const value = fc.constantFrom(
  '',
  '1',
  ' 2',
  'x',
  'true',
  '1,2',
  '[1,2]',
  '{"from":1}',
  '{"from":"x"}',
  'a+b',
  '%20',
  '%',
);
const queries = fc
  .array(fc.tuple(name, value), { maxLength: 4 })
  .map(pairs => pairs.map(pair => pair.join('=')).join('&'));

/** The dto, or the failures, that a query is bound to. */
async function outcomeOf(query: string): Promise<unknown> {
  try {
    return { ...(await bind(Search, { query })) };
  } catch (error) {
    if (error instanceof Problem) return error.errors ?? error.code;
    throw error;
  }
}

it('names of one part are bound as they are next to names of several, which need a tree', async () => {
  await fc.assert(
    fc.asyncProperty(queries, async query => {
      expect(await outcomeOf(query)).toEqual(await outcomeOf(`${query}&other.part=1`));
    }),
    { numRuns: 1_000 },
  );
});
