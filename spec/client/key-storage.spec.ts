import { memory } from '../../lib/client/key-storage';

it('the memory of a page gives expired keys up when it takes another one', () => {
  const entry = (msLeft: number): string => JSON.stringify({ until: Date.now() + msLeft });
  for (const [name, msLeft] of [
    ['first', -1],
    ['second', -1],
    ['third', 60_000],
  ] as const)
    memory.setItem(name, entry(msLeft));
  expect(['first', 'second', 'third'].map(name => typeof memory.getItem(name))).toEqual([
    'undefined',
    'undefined',
    'string',
  ]);
});
