import { parse, type Token } from 'path-to-regexp';

/**
 * Paths are written here as in OpenAPI, `/orders/{id}`, with `{*rest}` for a parameter that takes several segments. Two
 * parameters of nested routers can have one name; the document has other names then.
 */
const PARAMETER = /\{(\*?)([^}]*)\}/g;

/** A parameter of a path. */
export interface PathParameter {
  /** Its name in the document. */
  readonly name: string;
  /** Its name in `req.params`; undefined where another parameter has the name, too. */
  readonly key: string | undefined;
  readonly isWildcard: boolean;
}

/** Returns the name, with a number if it is taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count++) free = `${name}${count}`;
  return free;
}

const namesIn = (path: string): string[] => [...path.matchAll(PARAMETER)].map(([, , name = '']) => name);

/** Returns a path as the document has it: of parameters with one name, all but the last get a number. */
export function documentPath(path: string): string {
  const names = namesIn(path);
  const taken = new Set(names);
  let at = 0;
  return path.replace(PARAMETER, (_whole, _star, name: string) => {
    const free = names.includes(name, ++at) ? freeName(name, one => taken.has(one)) : name;
    taken.add(free);
    return `{${free}}`;
  });
}

/**
 * Returns the parameters of a path.
 * @param document the path that the document has for it, which differs in their names only.
 */
export function parametersOf(path: string, document: string): PathParameter[] {
  const keys = namesIn(path);
  return namesIn(document).map((name, at) => {
    const key = keys[at] ?? '';
    return { name, key: keys.includes(key, at + 1) ? undefined : key, isWildcard: path.includes(`{*${key}}`) };
  });
}

export const joined = (one: string, other: string): string => `${one}${other}`.replace(/\/{2,}/g, '/');

/** Returns the path without the names of its parameters: Express takes `/:id` and `/:order` for one path. */
export const shapeOf = (path: string): string => path.replace(PARAMETER, '{}');

/**
 * Returns one template for a path of Express 5, and one more for each part of it that may be missing. Of each shape,
 * the last: of `{/:a}{/:b}`, Express fills the first part.
 */
export function templatesOf(path: string): string[] {
  // A wildcard at the beginning of a path takes the slash as well.
  const templates = templatesOfTokens(parse(path).tokens).map(one => one.replace(/^(?=[^/])/, '/'));
  return [...new Map(templates.map(one => [shapeOf(one), one])).values()];
}

function templatesOfTokens(tokens: readonly Token[]): string[] {
  let templates = [''];
  for (const here of tokens.map(templatesOfToken))
    templates = templates.flatMap(one => here.map(other => joined(one, other)));
  return templates;
}

function templatesOfToken(token: Token): string[] {
  switch (token.type) {
    case 'text':
      // Braces would be a parameter.
      return [token.value.replace(/[{}]/g, encodeURIComponent)];
    case 'param':
    case 'wildcard':
      // A quoted name of Express 5 may hold characters that end the expression.
      return [`{${token.type === 'wildcard' ? '*' : ''}${token.name.replace(/[{}/?#]/g, '_')}}`];
    case 'group':
      return ['', ...templatesOfTokens(token.tokens)];
  }
}

/**
 * The parts of a path of Express 4: a parameter with its slash or dot, pattern and sign, a wildcard, an escape, text.
 * The slash or dot before a parameter that may be missing is missing with it.
 */
const PARTS_4 =
  /([/.]?):(\w+)(?:\((?:\\.|[^\\()]|\((?:\\.|[^\\()])*\))*\))?([*+]?\??)|(\*)|\\(.)|((?:(?![/.]:\w)[^:*\\])+|:)/g;
/** Characters that Express 4 passes on to the regular expression of a path. */
const REGEXP_4 = /[?+()[\]|^$]/;

/** Does the same for a path of Express 4, as Express 5 writes it; none for one with parts of a regular expression. */
export function templatesOf4(path: string): string[] {
  let wildcards = 0;
  let written = '';
  for (const [, slash = '', name, sign, star, escaped, plain = ''] of path.matchAll(PARTS_4)) {
    if (REGEXP_4.test(plain)) return [];
    const parameter = `${slash}:"${name ?? ''}"`;
    if (star) written += `*"${wildcards++}"`;
    else if (name === undefined) written += (escaped ?? plain).replace(/[{}()[\]+?!:*\\]/g, '\\$&');
    // `:rest*` is one segment or more; `:rest+?` is an expression that takes as few as it can.
    else written += sign === '?' || sign === '*?' ? `{${parameter}}` : parameter;
  }
  return templatesOf(written);
}

/** A parameter in the regular expression that Express 4 makes of a path, with the sign of one that may be missing. */
const PARAMETER_4 = /\(\?:\\\/\((?:\\.|\[[^\]]*\]|[^\\()])*\)\)(\??)/g;
/** The end of that of a mount path. */
const END_4 = /\\\/\?\(\?=\\\/\|\$\)$/;

/**
 * Returns the paths that a router of Express 4 is mounted at; Express keeps only their regular expressions, joined, in
 * which each parameter is a group. Undefined for paths that cannot be read from them.
 */
export function mountPaths4({ source }: RegExp, keys: readonly { readonly name: unknown }[]): string[] | undefined {
  const names = keys.map(({ name }) => String(name));
  const named = (_group: string, sign: string): string => `/:${names.shift() ?? ''}${sign}`;
  const paths = source.split(/\|(?=\^)/).map(one => {
    const path = one.replace(/^\^/, '').replace(END_4, '').replace(PARAMETER_4, named);
    return path.replace(/\\(.)/g, '$1');
  });
  return names.length > 0 || paths.some(path => /[()[\]|^$*+]|\?(?!\/|$)/.test(path)) ? undefined : paths;
}
