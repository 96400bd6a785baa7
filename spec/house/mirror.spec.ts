import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(__dirname, '../..');
const specs = readdirSync(join(root, 'spec'), { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.spec.ts'),
);
/** Folders of lib whose flows, through several files, stand at the top. */
const rooms = ['idempotency', 'binding', 'client', 'testing'];

/** Tells whether `lib` has the file that a spec is named after: `a/b-aspect.spec.ts` is a spec of `a/b.ts`. */
function hasFile(spec: string): boolean {
  const words = spec.replace(/\.spec\.ts$/, '').split('-');
  return words.some((_, index) => existsSync(join(root, 'lib', `${words.slice(0, index + 1).join('-')}.ts`)));
}

it('a spec in a folder of lib is named after a file there, except for flows at the top of a room', () => {
  const mirrored = specs.filter(
    spec => dirname(spec) !== '.' && !rooms.includes(dirname(spec)) && existsSync(join(root, 'lib', dirname(spec))),
  );
  expect(mirrored.length).toBeGreaterThan(60);
  expect(mirrored.filter(spec => !hasFile(spec))).toEqual([]);
});
