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
  const [, members] = /^members: (\S+)$/.exec(marker) ?? [];
  if (members !== undefined) return membersList(members);
  if (marker === 'failures') return failuresList();
  if (marker === 'events') return unionList('lib/idempotency/options/events.ts', 'IdempotencyEventKind');
  if (marker === 'failure codes') return unionList('lib/binding/reading/failures.ts', 'FailureCode');
  if (marker === 'matrix') return matrixTable();
  throw new Error(`There is no table "${marker}"`);
}

/** Every interface and class of lib/. */
const declarations = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .flatMap(file => {
    const text = readFileSync(join(root, 'lib', file), 'utf8');
    return [...ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true).statements];
  })
  .filter(one => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one));

const declarationOf = (name: string) => declarations.find(one => one.name?.text === name);

/** One item for each property of an interface, out of its type and its doc comment. */
const optionsList = (name: string): string => ownMembers(name).map(itemOf).join('\n');

/** One item for each public member of an interface or a class; those of its bases come first. */
const membersList = (name: string): string => allMembers(name).map(itemOf).join('\n');

type Field = ts.PropertySignature | ts.PropertyDeclaration | ts.ParameterDeclaration;
type Member = Field | ts.GetAccessorDeclaration | ts.MethodDeclaration;

function allMembers(name: string): readonly Member[] {
  const clauses = declarationOf(name)?.heritageClauses ?? [];
  const bases = clauses.flatMap(({ types }) => types.map(({ expression }) => expression.getText()));
  return [...bases.filter(declarationOf).flatMap(allMembers), ...ownMembers(name)];
}

function ownMembers(name: string): readonly Member[] {
  const declaration = declarationOf(name);
  if (!declaration) throw new Error(`lib/ has no interface or class ${name}`);
  return [...declaration.members]
    .flatMap((member): readonly ts.Node[] => (ts.isConstructorDeclaration(member) ? member.parameters : [member]))
    .filter(isMember)
    .filter(isPublic);
}

const isMember = (node: ts.Node): node is Member =>
  ts.isPropertySignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isParameterPropertyDeclaration(node, node.parent) ||
  ts.isGetAccessor(node) ||
  ts.isMethodDeclaration(node);

/** The modifiers of members that users do not see. */
const HIDDEN: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.PrivateKeyword,
  ts.SyntaxKind.StaticKeyword,
  ts.SyntaxKind.DeclareKeyword,
  ts.SyntaxKind.OverrideKeyword,
]);

function isPublic(member: Member): boolean {
  const isHidden = ts.getModifiers(member)?.some(({ kind }) => HIDDEN.has(kind));
  return !isHidden && !docOf(member)?.tags?.some(({ tagName }) => tagName.text === 'internal');
}

const docOf = (member: Member): ts.JSDoc | undefined => ts.getJSDocCommentsAndTags(member).find(one => ts.isJSDoc(one));

function itemOf(member: Member): string {
  const name = ts.isMethodDeclaration(member)
    ? `${member.name.getText()}(${member.parameters.map(one => one.getText()).join(', ')})`
    : member.name.getText();
  const { comment, tags = [] } = docOf(member) ?? {};
  const texts = [ts.getTextOfJSDocComment(comment), ...tags.map(textOfTag)].filter(text => text !== undefined);
  return `- \`${name}: ${typeOf(member)}\`: ${texts.join(' ')}`.replaceAll('\n', ' ');
}

function textOfTag(tag: ts.JSDocTag): string {
  const text = ts.getTextOfJSDocComment(tag.comment) ?? '';
  return ts.isJSDocParameterTag(tag) ? `\`${tag.name.getText()}\` is ${text}` : `Throws ${text}`;
}

/** What a user writes for types that the package does not export. */
const shownAs = [
  ['BinderObject<T>', 'Binder<T>'],
  ['Default<T>', 'T | (() => T)'],
] as const;

/** Returns the type of a member as users know it. */
function typeOf(member: Member): string {
  const initial = 'initializer' in member ? member.initializer : undefined;
  const inferred = initial && ts.isStringLiteral(initial) ? 'string' : initial?.getText();
  const written = (member.type?.getText() ?? inferred ?? '').replaceAll('readonly ', '');
  return shownAs.reduce((text, [name, shown]) => text.replace(name, shown), written);
}

function failuresList(): string {
  const source = readFileSync(join(root, 'lib/problems/catalogue.ts'), 'utf8');
  const rows = Object.entries(catalogue).map(([code, { status }]) => {
    const [, comment = ''] = new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*'?${code}'?:`, 's').exec(source) ?? [];
    const meaning = comment.replace(/\s*\n\s*\*?\s*/g, ' ').trim();
    return `- [\`${code}\`](#${code}), ${status}: ${meaning}`;
  });
  return rows.join('\n');
}

/** One item for each member of a union of texts, out of the list in its doc comment. */
function unionList(file: string, type: string): string {
  const source = readFileSync(join(root, file), 'utf8');
  const [, comment = '', union = ''] =
    new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*export type ${type} =([^;]*);`, 's').exec(source) ?? [];
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

/** One row for each area of the matrix, out of its projects. */
function matrixTable(): string {
  const rows = Object.entries(subjects).map(([area, names]) => {
    const projects = allProjects(root).filter(one => one.area === area);
    const versionsOf = (name: string): string =>
      [...new Set(projects.flatMap(({ packages }) => packages[name] ?? []))].join(', ');
    const what =
      names.length === 0 ? projects.map(({ name }) => name) : names.map(name => `${name} ${versionsOf(name)}`);
    const cells = projects.flatMap(project => project.cells.map(({ node = project.node }) => node));
    const managers = [...new Set(projects.map(({ manager }) => manager))];
    return `| ${area} | ${what.join('; ')} | ${[...new Set(cells)].sort().join(', ')} | ${managers.join(', ')} | ${cells.length} |`;
  });
  return ['| Area | With | Node | Installed by | Cells |', '|---|---|---|---|---|', ...rows].join('\n');
}
