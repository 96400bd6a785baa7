import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const lib = join(__dirname, '../../lib');

/** Files of TypeScript in a folder of `lib`, or the file of that name. */
function filesOf(place: string): string[] {
  if (place.endsWith('.ts')) return [join(lib, place)];
  const files = readdirSync(join(lib, place), { recursive: true, encoding: 'utf8' });
  return files.filter(file => file.endsWith('.ts')).map(file => join(lib, place, file));
}

/** Lines of code: comments cost nothing. */
const linesOf = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;

/**
 * What each room may have, in lines of code and in files. A room that needs more takes something out first; whoever makes
 * one smaller writes the smaller numbers here.
 */
const budget: Readonly<Record<string, readonly [lines: number, files: number, places: readonly string[]]>> = {
  idempotency: [3_790, 40, ['idempotency']],
  body: [750, 8, ['body']],
  binding: [3_500, 31, ['binding']],
  openapi: [980, 11, ['openapi']],
  client: [420, 6, ['client', 'client.ts']],
  cli: [320, 5, ['cli']],
  testing: [400, 4, ['testing', 'testing.ts']],
  leaves: [
    700,
    16,
    ['http', 'basics', 'problems', 'options', 'principal', 'warnings', 'description', 'configure.ts', 'index.ts'],
  ],
};

it.each(Object.entries(budget))('%s is no larger than its budget', (_room, [lines, files, places]) => {
  const found = places.flatMap(filesOf);
  const code = found.reduce((sum, file) => sum + linesOf(file), 0);
  expect({ lines: Math.max(code, lines), files: Math.max(found.length, files) }).toEqual({ lines, files });
  // A budget with much air would let a room grow again.
  expect(code).toBeGreaterThan(lines * 0.97);
});

it('every file of lib is in a room', () => {
  const counted = new Set(Object.values(budget).flatMap(([, , places]) => places.flatMap(filesOf)));
  expect(filesOf('.').filter(file => !counted.has(file))).toEqual([]);
});
