import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openapi } from '../openapi/openapi';
import { checkOpenApiOptions, type OpenApiOptions } from '../openapi/openapi-options';
import type { Routed } from '../openapi/routes';
import { isClass } from '../options/check';
import { withDefaults } from '../options/merge';
import { CommandError, importModule, parsedArguments, writeOrCheck } from './command';

export const usage = `Usage: bindonce openapi <module> [-o <file>] [options]

Writes the OpenAPI document of the Express application that the module exports, as \`app\` or by default, or
returns from a function that it exports so, or as \`createApp\`.

  -o, --output <file>    the file to write; default: standard output, where the module may print, too
  --check                write nothing; exit with 1 if the file is not up to date
  --options <module>     module whose default export is the options of openapi()
  --title, --version     of the API; default: name and version in the package.json of the module
`;

const text = { type: 'string' } as const;

/** Writes or checks the document of an application. */
export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    ...{ output: { ...text, short: 'o' }, check: { type: 'boolean' }, options: text, title: text, version: text },
  });
  const [path, ...others] = positionals;
  const { output, check } = values;
  if (path === undefined || others.length > 0) throw new CommandError(`Name one module.\n\n${usage}`);
  if (check && output === undefined) throw new CommandError('--check needs the file to compare with: -o <file>.');
  const app = await applicationIn(path);
  const document = `${JSON.stringify(openapi(app, await optionsOf(path, values)), undefined, 2)}\n`;
  if (output !== undefined) return writeOrCheck(output, document, check) === 'outdated' ? 1 : 0;
  await new Promise(done => process.stdout.write(document, done));
  return 0;
}

/** The names under which an application, or a function that makes it, is exported. Other functions may do anything. */
const NAMES = ['app', 'default', 'createApp'];

/** Returns the application that a module exports, or that a function returns which it exports. */
async function applicationIn(path: string): Promise<Routed> {
  const all = await importModule(path);
  for (const candidate of NAMES.flatMap(name => all.map(one => one[name]))) {
    const found: unknown = await (isFactory(candidate) ? candidate() : candidate);
    if (isApplication(found)) return found;
  }
  throw new CommandError(
    `${path} exports no Express application. Export it as \`app\` or by default, or export a function without ` +
      'parameters that returns it, as `createApp` or by default.',
  );
}

/** Returns true for a function that makes an application. A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  typeof value === 'function' && value.length === 0 && !isClass(value);

const isApplication = (value: unknown): value is Routed =>
  typeof value === 'function' && 'use' in value && ('handle' in value || 'stack' in value);

type Given = Partial<Record<'options' | 'title' | 'version', string>>;

/** Completes the options of a module with what else is known of the API. */
async function optionsOf(path: string, { options, title, version }: Given): Promise<OpenApiOptions> {
  const modules = options === undefined ? [{ default: {} }] : await importModule(options);
  const given = modules.map(one => one['default']).findLast(one => one !== undefined) as Partial<OpenApiOptions>;
  if (Object(given) !== given)
    throw new CommandError(`${options} has no default export with the options of openapi().`);
  const { name, version: ownVersion } = packageOf(path);
  const textOr = (other: string, value: unknown): string =>
    /string|number/.test(typeof value) ? String(value) : other;
  const byDefault = { title: textOr('API', name), version: textOr('0.0.0', ownVersion), ...given.info };
  const complete = { ...given, info: withDefaults(byDefault, { title, version }) as OpenApiOptions['info'] };
  try {
    checkOpenApiOptions('openapi', complete);
  } catch (error) {
    throw new CommandError(`${options ?? path}: ${(error as Error).message}`);
  }
  return complete;
}

/**
 * Returns the package.json of the package that a file belongs to: the nearest one with a name or a version, as those of
 * build folders may say a `type` only. It is empty if there is none.
 */
function packageOf(path: string): { readonly name?: unknown; readonly version?: unknown } {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
    if ('name' in found || 'version' in found || dirname(folder) === folder) return found;
  }
}
