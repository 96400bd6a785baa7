import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openapi } from '../openapi/openapi';
import { checkOpenApiOptions, type OpenApiOptions } from '../openapi/openapi-options';
import { withDefaults } from '../options/merge';
import { parsedArguments, UsageError, writeOrCheck, type Command } from './command-line';
import { importModule, loadApplication } from './load-application';

const usage = `Usage: bindonce openapi <module> [-o <file>] [options]

Writes the OpenAPI document of the Express application that the module exports, as \`app\` or by default, or
returns from a function that it exports so, or as \`createApp\`.

  -o, --output <file>    the file to write; default: standard output, where the module may print, too
  --check                write nothing; exit with 1 if the file is not up to date
  --options <module>     module whose default export is the options of openapi()
  --title, --version     of the API; default: name and version in the package.json of the module
`;

/** Writes or checks the document of an application. */
export const openapiCommand: Command = { usage, run };

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    output: { type: 'string', short: 'o' },
    check: { type: 'boolean' },
    options: { type: 'string' },
    title: { type: 'string' },
    version: { type: 'string' },
  });
  const [path, ...others] = positionals;
  const { output, check } = values;
  if (path === undefined || others.length > 0) throw new UsageError(`Name one module.\n\n${usage}`);
  if (check && output === undefined) throw new UsageError('--check needs the file to compare with: -o <file>.');
  const app = await loadApplication(path);
  const document = `${JSON.stringify(openapi(app, await optionsOf(path, values)), undefined, 2)}\n`;
  if (output !== undefined) return writeOrCheck(output, document, check) === 'outdated' ? 1 : 0;
  await new Promise(done => process.stdout.write(document, done));
  return 0;
}

type Given = Partial<Record<'options' | 'title' | 'version', string>>;

/** Completes the options of a module with what else is known of the API. */
async function optionsOf(path: string, { options, title, version }: Given): Promise<OpenApiOptions> {
  const given = options === undefined ? {} : await optionsIn(options);
  const { name, version: ownVersion } = packageOf(path);
  const byDefault = { title: textOr('API', name), version: textOr('0.0.0', ownVersion), ...given.info };
  const complete = { ...given, info: withDefaults(byDefault, { title, version }) as OpenApiOptions['info'] };
  try {
    checkOpenApiOptions('openapi', complete);
  } catch (error) {
    throw new UsageError(`${options ?? path}: ${(error as Error).message}`);
  }
  return complete;
}

async function optionsIn(path: string): Promise<Partial<OpenApiOptions>> {
  const { default: byDefault } = await importModule(path);
  // A module that was compiled to CommonJS has its default export as a property of its default export.
  const { default: given = byDefault } = Object(byDefault) as { default?: unknown };
  if (typeof given === 'object' && given !== null) return given;
  throw new UsageError(`${path} has no default export with the options of openapi().`);
}

/**
 * Returns the package.json of the package that a file belongs to: the nearest one with a name or a version, as those of
 * build folders may say a `type` only. It is empty if there is none.
 */
function packageOf(path: string): Readonly<Record<string, unknown>> {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
    const found = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    if ('name' in found || 'version' in found || dirname(folder) === folder) return found;
  }
}

/** Returns a value of package.json as text, unless it is of another kind. Versions that are numbers are common. */
const textOr = (other: string, value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : other;
