import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { catalogue } from '../../lib/problems/catalogue';
import { allProjects } from '../matrix/all-projects';
import type { Area } from '../matrix/project';

const root = join(__dirname, '../..');

/** The tables of the documents that say what the code says, made from the code. */
export function tableFor(marker: string): string {
  const [, name] = /^options: (\S+)$/.exec(marker) ?? [];
  if (name !== undefined) return optionsList(name);
  if (marker === 'failures') return failuresList();
  if (marker === 'events') return unionList('lib/idempotency/options/events.ts', 'IdempotencyEventKind');
  if (marker === 'matrix') return matrixList();
  throw new Error(`There is no table "${marker}"`);
}

/** Every interface of lib/. */
const declarations = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .flatMap(file => {
    const text = readFileSync(join(root, 'lib', file), 'utf8');
    return [...ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true).statements];
  })
  .filter(one => ts.isInterfaceDeclaration(one));

/** One item for each property of an interface, out of its type and its doc comment. */
function optionsList(name: string): string {
  const declaration = declarations.find(one => one.name.text === name);
  if (!declaration) throw new Error(`lib/ has no interface ${name}`);
  return declaration.members
    .filter(member => ts.isPropertySignature(member))
    .map(itemOf)
    .join('\n');
}

function itemOf(member: ts.PropertySignature): string {
  const doc = ts.getJSDocCommentsAndTags(member).find(one => ts.isJSDoc(one));
  const text = ts.getTextOfJSDocComment(doc?.comment) ?? '';
  return `- \`${member.name.getText()}: ${typeOf(member)}\`: ${text}`.replaceAll('\n', ' ');
}

/** What a user writes for types that the package does not export. */
const shownAs = [
  ['readonly ', ''],
  ['boolean | undefined', 'boolean'],
  ['BinderObject<T>', 'Binder<T>'],
  ['Default<T>', 'T | (() => T)'],
] as const;

/** Returns the type of a member as users know it. */
const typeOf = (member: ts.PropertySignature): string =>
  shownAs.reduce((text, [name, shown]) => text.replaceAll(name, shown), member.type?.getText() ?? '');

function failuresList(): string {
  const source = readFileSync(join(root, 'lib/problems/catalogue.ts'), 'utf8');
  const rows = Object.entries(catalogue).map(([code, { status }]) => {
    const [, comment = ''] = new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*'?${code}'?:`, 's').exec(source) ?? [];
    const meaning = comment.replace(/\s*\n\s*\*?\s*/g, ' ').trim();
    return `- [\`${code}\`](#${code}), ${status}: ${meaning}`;
  });
  return rows.join('\n');
}

/** One item for each member of a union of texts, and of the types it is made of, out of the list in its doc comment. */
function unionList(file: string, type: string): string {
  const source = readFileSync(join(root, file), 'utf8');
  const [, comment = '', union = ''] =
    new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*export type ${type} =((?:(?!/\\*\\*).)*)`, 's').exec(source) ?? [];
  // An item may have several lines: it ends where the next one begins.
  const items = comment.replace(/\n *\* */g, '\n').matchAll(/^- `([\w-]+)`: ((?:(?!\n- ).)*)/gms);
  const rows = [...items].map(([, member = '', meaning = '']) => ({
    member,
    meaning: meaning.trim().replace(/\s+/g, ' '),
  }));
  const members = [...union.matchAll(/'([\w-]+)'/g)].map(([, member]) => member);
  if (members.length === 0 || members.join() !== rows.map(({ member }) => member).join())
    throw new Error(`The comment of ${type} does not name the same members as the type, in the same order`);
  return rows.map(({ member, meaning }) => `- \`${member}\`: ${meaning}`).join('\n');
}

/** What the cells of an area differ by, beside Node and what has installed them. */
const subjects: Readonly<Record<Area, readonly string[]>> = {
  'run time': ['express', 'keyv', '@keyv/redis', '@keyv/valkey', '@keyv/postgres'],
  types: ['typescript', '@types/express'],
  tools: [],
  'lowest versions': [
    'express',
    'keyv',
    '@keyv/redis',
    '@keyv/valkey',
    '@keyv/postgres',
    'pg',
    'typescript',
    '@types/express',
  ],
  package: ['publint', '@arethetypeswrong/cli'],
};

/** One item for each area of the matrix, out of its projects. */
function matrixList(): string {
  const items = Object.entries(subjects).map(([area, names]) => {
    const projects = allProjects(root).filter(one => one.area === area);
    const versionsOf = (name: string): string =>
      [...new Set(projects.flatMap(({ packages }) => packages[name] ?? []))].join(', ');
    const what =
      names.length === 0 ? projects.map(({ name }) => name) : names.map(name => `${name} ${versionsOf(name)}`);
    const nodes = new Set(projects.flatMap(project => project.cells.map(({ node = project.node }) => node)));
    const managers = [...new Set(projects.map(({ manager }) => manager))];
    return `- ${area}: ${what.join('; ')}; on Node ${[...nodes].sort().join(', ')}, by ${managers.join(', ')}`;
  });
  return items.join('\n');
}
