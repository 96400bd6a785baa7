import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files of the page, by the path below the mount point. */
type Files = ReadonlyMap<string, string>;

/**
 * Returns the files of the page.
 * @throws Error if swagger-ui-dist, which has two of them, is not installed, or if a bundler has taken the code away
 * from the files.
 */
export function filesOfPage(): Files {
  const page = ownFolder();
  const own = [
    ['/', join(page, 'index.html')],
    ['/page.js', join(page, 'page.js')],
    ['/page.css', join(page, 'page.css')],
  ] as const;
  checkFiles(own);
  const swagger = dirname(swaggerPackage());
  const others = [
    ['/swagger-ui.css', join(swagger, 'swagger-ui.css')],
    ['/swagger-ui-bundle.js', join(swagger, 'swagger-ui-bundle.js')],
  ] as const;
  checkFiles(others);
  return new Map([...own, ...others]);
}

function ownFolder(): string {
  // A bundle that is an ES module has no __dirname.
  if (typeof __dirname !== 'string') throw bundled();
  return join(__dirname, 'files');
}

function swaggerPackage(): string {
  let path: unknown;
  try {
    path = require.resolve('swagger-ui-dist/package.json');
  } catch (error) {
    throw new Error(
      'apiDocs: the page needs the package swagger-ui-dist, which is not installed. Run `npm install ' +
        'swagger-ui-dist`. With SCARF_ANALYTICS=false, its installation reports nothing to its makers.',
      { cause: error },
    );
  }
  // webpack replaces the call by the number of a module in the bundle.
  if (typeof path !== 'string') throw bundled();
  return path;
}

function checkFiles(files: readonly (readonly [address: string, path: string])[]): void {
  if (!files.every(([, path]) => existsSync(path))) throw bundled();
}

function bundled(): Error {
  return new Error(
    'apiDocs: its files are not beside the code of bindonce, so it has been bundled. Keep `bindonce` and ' +
      '`swagger-ui-dist` external to the bundle (esbuild: --packages=external; webpack: externals; Rollup: ' +
      'external), and install them where it runs.',
  );
}
