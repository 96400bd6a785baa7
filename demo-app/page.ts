import { dirname, join } from 'node:path';
import express, { Router, type Request, type RequestHandler } from 'express';

/** The files are served from where they are written; the compiler does not copy them. */
const files = join(__dirname, '../page');
/** The ES module of `bindonce/client`, with the modules next to it. */
const client = join(dirname(require.resolve('bindonce/package.json')), 'dist/esm');

/** Allows the page its own files, and requests to this shop, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the page at `/` to browsers, and its files. */
export function page(): Router {
  const router = Router();
  router.get('/', (req, res, next) => {
    res.vary('Accept');
    if (!isBrowser(req)) next();
    else
      res.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' }).sendFile(join(files, 'index.html'));
  });
  router.use('/page', filesOf(files));
  router.use('/client', filesOf(client));
  return router;
}

/** Tells browsers, which name HTML first, from curl, which takes anything. */
const isBrowser = (req: Request): boolean => req.accepts(['text', 'html']) === 'html';

const filesOf = (folder: string): RequestHandler =>
  express.static(folder, { index: false, setHeaders: res => res.setHeader('X-Content-Type-Options', 'nosniff') });
