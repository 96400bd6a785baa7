import { parse, type Token } from 'path-to-regexp';

/** A path as OpenAPI writes it, `/orders/{id}`, and the names of its parameters. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly string[];
}

export const rootTemplate: PathTemplate = { path: '', parameters: [] };

export function joined(one: PathTemplate, other: PathTemplate): PathTemplate {
  return {
    path: `${one.path}${other.path}`.replace(/\/{2,}/g, '/'),
    parameters: [...one.parameters, ...other.parameters],
  };
}

/** Returns one template for a path of Express 5, and one more for each part of it that may be missing. */
export function templatesOf(path: string): PathTemplate[] {
  return templatesOfTokens(parse(path).tokens);
}

function templatesOfTokens(tokens: readonly Token[]): PathTemplate[] {
  return tokens.reduce<PathTemplate[]>(
    (before, token) => {
      const here = templatesOfToken(token);
      return before.flatMap(one => here.map(other => joined(one, other)));
    },
    [rootTemplate],
  );
}

function templatesOfToken(token: Token): PathTemplate[] {
  switch (token.type) {
    case 'text':
      return [{ path: token.value, parameters: [] }];
    case 'param':
    case 'wildcard':
      return [parameter(token.name)];
    case 'group':
      return [rootTemplate, ...templatesOfTokens(token.tokens)];
  }
}

const parameter = (name: string): PathTemplate => ({ path: `{${name}}`, parameters: [name] });

/** The parts of a path of Express 4: a parameter with its slash, pattern and sign, a wildcard, an escape, text. */
const PARTS_4 = /(\/?):(\w+)(?:\((?:\\.|[^\\()])*\))?([?*+]?)|(\*)|\\(.)|([^:*\\]+|:)/g;

/** Like `templatesOf`, for a path of Express 4. */
export function templatesOf4(path: string): PathTemplate[] {
  let templates: PathTemplate[] = [rootTemplate];
  let wildcards = 0;
  for (const [, slash = '', name, sign, wildcard, escaped, text = ''] of path.matchAll(PARTS_4)) {
    const part: PathTemplate =
      name !== undefined
        ? joined({ path: slash, parameters: [] }, parameter(name))
        : wildcard
          ? parameter(String(wildcards++))
          : { path: escaped ?? text, parameters: [] };
    const isOptional = sign === '?' || sign === '*';
    templates = templates.flatMap(one => [...(isOptional ? [one] : []), joined(one, part)]);
  }
  return templates;
}

/**
 * Returns the path that a router of Express 4 is mounted at; Express keeps only its regular expression, in which each
 * parameter is a group.
 */
export function mountPath4(regexp: RegExp, keys: readonly { readonly name: string | number }[]): string {
  const names = keys.map(({ name }) => String(name));
  return regexp.source
    .replace(/^\^/, '')
    .replace(/\\\/\?\(\?=\\\/\|\$\)$/, '')
    .replace(
      /\(\?:\\\/\((?:\\.|\[[^\]]*\]|[^\\()])*\)\)(\??)/g,
      (_group, sign: string) => `/:${names.shift() ?? ''}${sign}`,
    )
    .replace(/\\(.)/g, '$1');
}
