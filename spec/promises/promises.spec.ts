import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisesIn } from './promises';

const root = join(__dirname, '../..');
const promises = promisesIn(root);
const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

it.each(promises.map(one => [one.promise, one] as const))('%s', (_promise, { spec, title, mutant }) => {
  const text = textOf(spec);
  for (const part of title) expect([spec, part, text.includes(part)]).toEqual([spec, part, true]);
  expect([mutant.file, mutant.find, textOf(mutant.file).split(mutant.find).length - 1]).toEqual([
    mutant.file,
    mutant.find,
    1,
  ]);
  expect(mutant.replace).not.toBe(mutant.find);
});

it('each promise stands here once', () => {
  expect(new Set(promises.map(({ promise }) => promise)).size).toBe(promises.length);
});
