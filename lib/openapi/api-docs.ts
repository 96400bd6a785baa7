import type { Request, RequestHandler, Response } from 'express';
import { openapi, type OpenApiDocument } from './openapi';
import { checkOpenApiOptions, type OpenApiOptions } from './options/openapi-options';
import { filesOfPage } from './page/page-files';
import { policyFor } from './page/page-policy';
import type { Routed } from './routing/express-layers';
import { checkRouters } from './routing/routes';

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
