import { moveSequences } from '../../lib/testing/lease-model';

it.each([
  [1, 5],
  [2, 41],
  [3, 429],
  [4, 5_073],
])('there are, of %d steps, %d sequences, each once', (depth, count) => {
  const all = [...moveSequences(depth)].map(moves => JSON.stringify(moves));
  expect([all.length, new Set(all).size]).toEqual([count, count]);
});

it('holders are named in the order in which they come', () => {
  for (const moves of moveSequences(3)) {
    const tokens = moves.flatMap(move => ('token' in move ? [move.token] : []));
    expect([...new Set(tokens)]).toEqual(['a', 'b', 'c'].slice(0, new Set(tokens).size));
  }
});
