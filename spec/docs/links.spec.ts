import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(__dirname, '../..');

it.each(['README.md', 'docs/examples/README.md'])('every file that %s links to is there', name => {
  const file = join(root, name);
  const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter(link => !existsSync(join(dirname(file), link)))).toEqual([]);
});
