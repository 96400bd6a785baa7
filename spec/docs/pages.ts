import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A document of the package. */
export interface Page {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly text: string;
}

/** A block of code. */
export interface Block {
  readonly page: Page;
  readonly language: string;
  /** The words after the language. */
  readonly info: string;
  readonly code: string;
}

/** README.md, and every page in docs/. @param root of the repository. */
export function pagesIn(root: string): readonly Page[] {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md') && !/(^|\/)(dist|node_modules)\//.test(name))
    .sort()
    .map(name => `docs/${name}`);
  return ['README.md', ...pages].map(file => pageOf(root, file));
}

export const pageOf = (root: string, file: string): Page => ({ file, text: readFileSync(join(root, file), 'utf8') });

export function blocksOf(page: Page): readonly Block[] {
  return [...page.text.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(
    ([, language = '', info = '', code = '']): Block => ({ page, language, info: info.trim(), code }),
  );
}

export const snippetsIn = (pages: readonly Page[]): readonly Block[] =>
  pages.flatMap(blocksOf).filter(({ language }) => language === 'ts');

/** The text of a page without its blocks of code. */
export const proseOf = ({ text }: Page): string => text.replace(/^```.*?^```$/gms, '');
