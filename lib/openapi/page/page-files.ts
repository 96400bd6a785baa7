import { dirname, join } from 'node:path';

/** The files of the page, by the path below the mount point. */
type Files = ReadonlyMap<string, string>;

/** Returns the files of the page. @throws Error if swagger-ui-dist, which has two of them, is not installed. */
export function filesOfPage(): Files {
  const swagger = dirname(swaggerPackage());
  const page = join(__dirname, 'files');
  return new Map([
    ['/', join(page, 'index.html')],
    ['/page.js', join(page, 'page.js')],
    ['/page.css', join(page, 'page.css')],
    ['/swagger-ui.css', join(swagger, 'swagger-ui.css')],
    ['/swagger-ui-bundle.js', join(swagger, 'swagger-ui-bundle.js')],
  ]);
}

function swaggerPackage(): string {
  try {
    return require.resolve('swagger-ui-dist/package.json');
  } catch (error) {
    throw new Error(
      'apiDocs: the page needs the package swagger-ui-dist, which is not installed. Run `npm install ' +
        'swagger-ui-dist`. With SCARF_ANALYTICS=false, its installation reports nothing to its makers.',
      { cause: error },
    );
  }
}
