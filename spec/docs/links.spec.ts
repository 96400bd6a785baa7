import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { catalogue } from '../../lib/problems/catalogue';
import { pageOf, pagesIn, proseOf, type Page } from './pages';

const root = join(__dirname, '../..');
const pages = [...pagesIn(root), ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].map(file => pageOf(root, file))];

/** A link inside of the repository: a path, an anchor, or both. */
interface Link {
  /** Path from the root of the repository. */
  readonly to: string;
  readonly anchor: string | undefined;
}

const linksOf = (page: Page): Link[] =>
  [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', anchor]) => ({
    to: path === '' ? page.file : normalize(join(dirname(page.file), path)),
    anchor,
  }));

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: Page): string[] {
  const seen = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** Every file of the folders that documents name files of. */
const sources = ['lib', 'spec', 'docs', 'demo-app'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => `/${folder}/${file}`),
);

/** Names of source files in back quotes: a path from the root, or the end of one. */
const filesNamedIn = (page: Page): string[] =>
  [...proseOf(page).matchAll(/`((?:[\w-]+\/)*[\w.-]+\.(?:ts|cjs)|(?:lib|spec|docs)\/[\w./-]+)`/g)].map(
    ([, name = '']) => name.replace(/\/$/, ''),
  );

describe.each(pages)('$file', page => {
  it('names source files that exist', () => {
    expect(filesNamedIn(page).filter(name => !sources.some(file => file.endsWith(`/${name}`)))).toEqual([]);
  });

  it('links to files that exist', () => {
    expect(linksOf(page).filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
  });

  it('links to headings that exist', () => {
    const lost = linksOf(page).filter(
      ({ to, anchor }) => anchor !== undefined && to.endsWith('.md') && !anchorsOf(pageOf(root, to)).includes(anchor),
    );
    expect(lost).toEqual([]);
  });

  it('links to files that are in the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    const isUnder = (to: string, names: readonly string[]): boolean =>
      names.some(one => to === one || to.startsWith(`${one}/`));
    const packed = ['README.md', 'LICENSE', 'package.json', ...files];
    const excluded = files.filter(one => one.startsWith('!')).map(one => one.slice(1));
    const lost = linksOf(page).filter(({ to }) => !isUnder(to, packed) || isUnder(to, excluded));
    expect(lost).toEqual([]);
  });
});

it('every page of docs/ is linked from the README', () => {
  const linked = linksOf(pageOf(root, 'README.md')).map(({ to }) => to);
  expect(pages.map(({ file }) => file).filter(file => file !== 'README.md' && !linked.includes(file))).toEqual([]);
});

it('every problem code is a heading of docs/errors.md, so that `problemTypeBase` can lead there', () => {
  expect(anchorsOf(pageOf(root, 'docs/errors.md'))).toEqual(expect.arrayContaining(Object.keys(catalogue)));
});
