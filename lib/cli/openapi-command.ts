import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openapi } from '../openapi/openapi';
import { checkOpenApiOptions, type OpenApiOptions } from '../openapi/openapi-options';
import { parsedArguments } from './arguments';
import { importModule } from './import-module';
import { loadApplication } from './load-application';
import { writeOrCheck } from './output-file';
import { UsageError } from './usage-error';

const usage = `Usage: bindonce openapi <module> [-o <file>] [options]

Writes the OpenAPI document of the Express application that the module exports, as \`app\` or by default, or
returns from a function that it exports so, or as \`createApp\`.

  -o, --output <file>    the file to write; default: standard output, where the module may print, too
  --check                write nothing; exit with 1 if the file is not up to date
  --options <module>     module whose default export is the options of openapi()
  --title, --version     of the API; default: name and version in the package.json of the module
`;

/** Writes or checks the document of an application. @returns the exit code of the process. */
export async function openapiCommand(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    output: { type: 'string', short: 'o' },
    check: { type: 'boolean' },
    options: { type: 'string' },
    title: { type: 'string' },
    version: { type: 'string' },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
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

interface Given {
  readonly options?: string;
  readonly title?: string;
  readonly version?: string;
}

async function optionsOf(path: string, { options, title, version }: Given): Promise<OpenApiOptions> {
  const { name, version: ownVersion } = packageOf(path);
  const complete = (given: Partial<OpenApiOptions>): OpenApiOptions => {
    const info = { title: textOr('API', name), version: textOr('0.0.0', ownVersion), ...given.info };
    return {
      ...given,
      info: { ...info, ...(title !== undefined && { title }), ...(version !== undefined && { version }) },
    };
  };
  if (options === undefined) return complete({});
  const { default: byDefault } = await importModule(options);
  // A module that was compiled to CommonJS has its default export as a property of its default export.
  const { default: given = byDefault } = Object(byDefault) as { default?: unknown };
  if (typeof given !== 'object' || given === null)
    throw new UsageError(`${options} has no default export with the options of openapi().`);
  try {
    checkOpenApiOptions('openapi', complete(given));
  } catch (error) {
    throw new UsageError(`${options}: ${(error as Error).message}`);
  }
  return complete(given);
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
