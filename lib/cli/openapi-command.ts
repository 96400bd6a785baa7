import { existsSync, readFileSync } from 'node:fs';
import { openapi } from '../openapi/openapi';
import type { OpenApiOptions } from '../openapi/openapi-options';
import { parsedArguments } from './arguments';
import { defaultExport } from './default-export';
import { loadApplication } from './load-application';
import { writeOrCheck } from './output-file';
import { UsageError } from './usage-error';

const usage = `Usage: bindonce openapi <module> [-o <file>] [options]

Writes the OpenAPI document of the Express application that the module exports, as \`app\` or by default.

  -o, --output <file>    the file to write; default: standard output
  --check                write nothing; exit with 1 if the file is not up to date
  --options <module>     module whose default export is the options of openapi()
  --title, --version     of the API; default: name and version in package.json
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
  // The application may write to standard output while it is loaded.
  const write = process.stdout.write.bind(process.stdout);
  if (output === undefined) process.stdout.write = process.stderr.write.bind(process.stderr);
  const app = await loadApplication(path);
  const text = `${JSON.stringify(openapi(app, await optionsOf(values)), undefined, 2)}\n`;
  if (output === undefined) {
    await new Promise<void>(done => {
      write(text, () => {
        done();
      });
    });
    return 0;
  }
  return writeOrCheck(output, text, check);
}

interface Given {
  readonly options?: string;
  readonly title?: string;
  readonly version?: string;
}

async function optionsOf({ options, title, version }: Given): Promise<OpenApiOptions> {
  const given = options === undefined ? {} : await defaultExport<Partial<OpenApiOptions>>(options, 'openapi()');
  const { name = 'API', version: ownVersion = '0.0.0' } = ownPackage();
  const info = { title: name, version: ownVersion, ...given.info };
  return {
    ...given,
    info: { ...info, ...(title !== undefined && { title }), ...(version !== undefined && { version }) },
  };
}

/** Reads the package.json of the working directory, if there is one. */
function ownPackage(): { readonly name?: string; readonly version?: string } {
  return existsSync('package.json') ? (JSON.parse(readFileSync('package.json', 'utf8')) as object) : {};
}
