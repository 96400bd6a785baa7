import { dirname, join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { openapi, type OpenApiDocument } from './openapi';
import { checkOpenApiOptions, type OpenApiOptions } from './openapi-options';
import { policyFor } from './page-policy';
import type { Routed } from './express-layers';

/** The files of the page, by the path below the mount point. */
type Files = ReadonlyMap<string, string>;

/**
 * Makes a router that serves `openapi.json` and an interactive page below its mount point:
 * `app.use('/docs', apiDocs(app, { info }))`. The page is made of local files and asks no other host. The document is
 * made at the first request, when all routes are mounted.
 * @throws TypeError for an unknown option or an invalid value, and Error if swagger-ui-dist is not installed.
 */
export function apiDocs(app: Routed, options: OpenApiOptions): RequestHandler {
  checkOpenApiOptions('apiDocs', options);
  // Checks the security schemes now. The routes come later.
  openapi(() => undefined, options);
  const files = filesOfPage();
  const policy = policyFor(options);
  let document: OpenApiDocument | undefined;
  return function apiDocs(req: Request, res: Response, next): void {
    const file = files.get(req.path);
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (isRead && req.path === '/openapi.json') res.json((document ??= openapi(app, options)));
    else if (!isRead || file === undefined) next();
    // The page's links are relative to its folder.
    else if (req.path === '/' && !pathOf(req).endsWith('/')) res.redirect(308, folderOf(req));
    else {
      res.set({ 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
      // The path of the package may have a folder with a dot: pnpm installs in `.pnpm`.
      res.sendFile(file, { dotfiles: 'allow' });
    }
  };
}

const pathOf = ({ originalUrl }: Request): string => originalUrl.split('?', 1)[0] ?? '';

/**
 * Returns the address of the page as a folder, relative to the one asked for: a proxy may have changed what is before.
 */
function folderOf(req: Request): string {
  const path = pathOf(req);
  return `./${path.slice(path.lastIndexOf('/') + 1)}/${req.originalUrl.slice(path.length)}`;
}

function filesOfPage(): Files {
  const swagger = dirname(swaggerPackage());
  const page = join(__dirname, 'page');
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
