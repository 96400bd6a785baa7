import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A promise of the package, with the spec that states it where a user meets it, and a break that this spec notices. */
export interface KeptPromise {
  readonly promise: string;
  readonly spec: string;
  /** Parts of the title of the spec, in their order. */
  readonly title: readonly string[];
  /** A change of one line, or of few, after which the promise does not hold. */
  readonly mutant: { readonly file: string; readonly find: string; readonly replace: string };
}

const oneLine = (text = ''): string => text.replaceAll('\n', ' ').trim();
const linesAfter = (sign: string, text: string): string =>
  text
    .split('\n')
    .filter(line => line.startsWith(sign))
    .map(line => line.slice(sign.length + 1))
    .join('\n');

/** `kept/*.txt`: a promise, its spec and a part of its title (` > ` stands between several), and the mutant as a diff. */
const ENTRY = /^(?<promise>[^]+?)\n(?<spec>spec\/[^:]+):(?<title>[^]+?)\n(?<file>lib\/[^:\n]+):\n(?<diff>[^]+)$/;

/** What the package promises, and what may be trusted while everything else moves: `npm run mutants` breaks each. */
export function promisesIn(root: string): readonly KeptPromise[] {
  const folder = join(root, 'spec/promises/kept');
  const blocks = readdirSync(folder).flatMap(name => readFileSync(join(folder, name), 'utf8').trim().split('\n\n'));
  return blocks
    .filter(block => !block.startsWith('#'))
    .map(block => {
      const { promise, spec = '', title, file = '', diff = '' } = ENTRY.exec(block)?.groups ?? {};
      if (promise === undefined) throw new Error(`No promise with its spec and its mutant:\n${block}`);
      const mutant = { file, find: linesAfter('-', diff), replace: linesAfter('+', diff) };
      return { promise: oneLine(promise), spec, title: oneLine(title).split(' > '), mutant };
    });
}
