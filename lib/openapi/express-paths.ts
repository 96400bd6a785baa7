import { parse, type Token } from 'path-to-regexp';

/** A parameter of a path. */
export interface PathParameter {
  /** Its name in the document. */
  readonly name: string;
  /** Its name in `req.params`; undefined where another parameter has the name, too. */
  readonly key: string | undefined;
  /** True if it takes several segments. */
  readonly isWildcard?: boolean;
}

/** A path as OpenAPI writes it, `/orders/{id}`, and its parameters. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

export const rootTemplate: PathTemplate = { path: '', parameters: [] };

/** Returns the name, with a number if it is taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count++) free = `${name}${count}`;
  return free;
}

/** Joins two paths. A parameter of the first one whose name the second has, too, gets another name and is not seen. */
export function joined(one: PathTemplate, other: PathTemplate): PathTemplate {
  const taken = new Set([...one.parameters, ...other.parameters].map(({ name }) => name));
  let { path } = one;
  const first = one.parameters.map((parameter): PathParameter => {
    if (!other.parameters.some(({ name }) => name === parameter.name)) return parameter;
    const name = freeName(parameter.name, one => taken.has(one));
    taken.add(name);
    path = path.replace(`{${parameter.name}}`, () => `{${name}}`);
    return { name, key: undefined };
  });
  const whole = `${path}${other.path}`.replace(/\/{2,}/g, '/');
  return { path: whole, parameters: [...first, ...other.parameters] };
}

/** Gives a path the spelling and the names of another one, which differs in nothing else. */
export function renamed({ parameters }: PathTemplate, { path, parameters: names }: PathTemplate): PathTemplate {
  return { path, parameters: parameters.map((one, at) => ({ ...one, name: names[at]?.name ?? one.name })) };
}

/** Returns the path without the names of its parameters: Express takes `/:id` and `/:order` for one path. */
export const shapeOf = ({ path }: PathTemplate): string => path.replace(/\{[^}]*\}/g, '{}');

/**
 * Returns one template for a path of Express 5, and one more for each part of it that may be missing. Of each shape,
 * the last: of `{/:a}{/:b}`, Express fills the first part.
 */
export function templatesOf(path: string): PathTemplate[] {
  const templates = templatesOfTokens(parse(path).tokens).map(rooted);
  return [...new Map(templates.map(one => [shapeOf(one), one])).values()];
}

/** Adds the slash that templates begin with: a wildcard at the beginning of a path takes it as well. */
const rooted = (one: PathTemplate): PathTemplate => (/^[^/]/.test(one.path) ? { ...one, path: `/${one.path}` } : one);

function templatesOfTokens(tokens: readonly Token[]): PathTemplate[] {
  let templates: PathTemplate[] = [rootTemplate];
  for (const here of tokens.map(templatesOfToken))
    templates = templates.flatMap(one => here.map(other => joined(one, other)));
  return templates;
}

function templatesOfToken(token: Token): PathTemplate[] {
  switch (token.type) {
    case 'text':
      // Braces would be a parameter.
      return [{ path: token.value.replace(/[{}]/g, encodeURIComponent), parameters: [] }];
    case 'param':
    case 'wildcard': {
      // A quoted name of Express 5 may hold characters that end the expression.
      const name = token.name.replace(/[{}/?#]/g, '_');
      const isWildcard = token.type === 'wildcard' && { isWildcard: true };
      return [{ path: `{${name}}`, parameters: [{ name, key: token.name, ...isWildcard }] }];
    }
    case 'group':
      return [rootTemplate, ...templatesOfTokens(token.tokens)];
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
export function templatesOf4(path: string): PathTemplate[] {
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
