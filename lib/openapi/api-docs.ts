import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { openapi, type OpenApiDocument } from './openapi';
import { checkOpenApiOptions, type OpenApiOptions } from './openapi-options';
import { checkRouters, type Routed } from './routes';

/**
 * Makes a router that serves `openapi.json` and an interactive page below its mount point:
 * `app.use('/docs', apiDocs(app, { info }))`. The page is made of local files, and sends requests only to its own
 * origin and to the addresses in `servers`. The document is made at the first request, when all routes are mounted.
 * @throws TypeError for a value that is not an application or router, for an unknown option or an invalid value, and
 * Error if swagger-ui-dist is not installed.
 */
export function apiDocs(app: Routed, options: OpenApiOptions): RequestHandler {
  checkOpenApiOptions('apiDocs', options);
  checkRouters('apiDocs', app, options.mounts);
  // Checks the security schemes now. The routes come later.
  openapi(() => undefined, options);
  const files = filesOfPage();
  const policy = policyFor(options);
  let document: OpenApiDocument | undefined;
  return function apiDocs(req: Request, res: Response, next): void {
    const file = files.get(req.path);
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    // The page's links are relative to its folder; and so is its address, as a proxy may have changed what is before.
    const [, folder = '', query = ''] = /([^/?]*)(\?.*)?$/.exec(req.originalUrl) ?? [];
    if (isRead && req.path === '/openapi.json') res.json((document ??= openapi(app, options)));
    else if (!isRead || file === undefined) next();
    else if (req.path === '/' && folder !== '') res.redirect(308, `./${folder}/${query}`);
    else {
      res.set({ 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
      // The path of the package may have a folder with a dot: pnpm installs in `.pnpm`.
      res.sendFile(file, { dotfiles: 'allow' });
    }
  };
}

/**
 * Returns the files of the page, by the path below the mount point.
 * @throws Error if swagger-ui-dist, which has two of them, is not installed, or if a bundler has taken the code away
 * from the files.
 */
function filesOfPage(): ReadonlyMap<string, string> {
  const page = join(__dirname, 'page/files');
  const own = ['page.js', 'page.css'].map(name => join(page, name));
  const ofSwagger = ['swagger-ui.css', 'swagger-ui-bundle.js'].map(name => join(swaggerFolder(), name));
  const files = new Map([...own, ...ofSwagger].map(file => [`/${basename(file)}`, file]));
  files.set('/', join(page, 'index.html'));
  if ([...files.values()].every(existsSync)) return files;
  throw new Error(
    'apiDocs: its files are not beside the code of bindonce, so it has been bundled. Keep `bindonce` and ' +
      '`swagger-ui-dist` external to the bundle (esbuild: --packages=external; webpack: externals; Rollup: ' +
      'external), and install them where it runs.',
  );
}

function swaggerFolder(): string {
  try {
    return dirname(require.resolve('swagger-ui-dist/package.json'));
  } catch (cause) {
    const message =
      'apiDocs: the page needs the package swagger-ui-dist, which is not installed. Run `npm install ' +
      'swagger-ui-dist`. With SCARF_ANALYTICS=false, its installation reports nothing to its makers.';
    throw new Error(message, { cause });
  }
}

/** Makes the policy of the page, which allows it its own files and requests to the servers of the API. */
function policyFor({ servers = [] }: OpenApiOptions): string {
  const addresses = (servers as readonly { readonly url?: string }[]).map(({ url = '' }) => url);
  // A host with variables is none.
  const known = addresses.filter(url => /^https?:[^{]+$/.test(url) && URL.canParse(url));
  const origins = new Set(["'self'", ...known.map(url => new URL(url).origin)]);
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    `connect-src ${[...origins].join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  );
}
