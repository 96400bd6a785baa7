import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Request, RequestHandler, Response } from 'express';
import type { Next } from '../../http/express';
import { checkOptions, fn } from '../../options/check';
import { answerWith } from '../../problems/answer';
import { Problem } from '../../problems/problem';
import { StoreUnavailable } from '../store-calls/store-call';
import type { Keys, KeysQuery } from './keys';

/** Options of {@link operate}. */
export interface OperateOptions {
  /**
   * Says who may see and change the runs; it is asked for each request. A promise is awaited; everything but true, an
   * error included, is no, and answered with 403 and no content. There is no default.
   */
  readonly allow: (req: Request) => boolean | Promise<boolean>;
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** The files of the page, which asks for them by relative links. */
const FILES: Readonly<Record<string, string>> = { '/': 'index.html', '/page.js': 'page.js', '/page.css': 'page.css' };

/**
 * Makes a router with a page for operators, and the same as JSON, below its mount point:
 * `app.use('/operate', operate(once, { allow }))`. It lists the runs in the store of `once`, looks one up by the key of
 * a client, removes it, or settles it. The page loads nothing from other hosts.
 *
 * `GET keys`, `GET keys/:cacheKey` (`?response=true`), `DELETE keys/:cacheKey`, and `POST keys/:cacheKey/resolve` with
 * `{ "outcome": "ran" | "did-not-run" }`. No page of another origin can use the session of an operator: what changes
 * something must come from the same origin (`Sec-Fetch-Site`, else `Origin`), and what reads keys, from no other.
 * @throws TypeError for anything but a middleware of `idempotency()`, an unknown option, or without `allow`.
 */
export function operate(once: { readonly keys: Keys }, options: OperateOptions): RequestHandler {
  const { keys } = Object(once) as { readonly keys?: Keys };
  if (!keys) throw new TypeError('operate: the first argument must be what idempotency() returned');
  checkOptions('operate', options, { allow: fn });
  if (typeof options.allow !== 'function')
    throw new TypeError('operate: pass allow: req => …, which says who may see and change the runs');
  return function operate(req: Request, res: Response, next): void {
    serve(req, res, next, keys, options.allow).catch((error: unknown) => answerWith(asProblem(error), req, res, next));
  };
}

/** What answers with JSON; undefined if there is no such run. */
type Answer = (keys: Keys, cacheKey: string, req: Request) => Promise<object | undefined>;

const routes: Readonly<Record<string, Answer>> = {
  'GET /keys': (keys, _cacheKey, req) => keys.list(queryOf(req)),
  'GET /keys/:cacheKey': shown,
  'DELETE /keys/:cacheKey': async (keys, cacheKey) => ({ purged: await keys.purge(cacheKey) }),
  'POST /keys/:cacheKey/resolve': async (keys, cacheKey, req) => {
    return { resolved: await keys.resolve(cacheKey, await outcomeIn(req)) };
  },
};

const OF_A_KEY = /^\/keys\/([^/]+)/;

async function serve(
  req: Request,
  res: Response,
  next: Next,
  keys: Keys,
  allow: OperateOptions['allow'],
): Promise<void> {
  const isAllowed: unknown = await Promise.resolve()
    .then(() => allow(req))
    .catch(() => false);
  if (isAllowed !== true) {
    res.status(403).end();
    return;
  }
  res.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const [, cacheKey = ''] = OF_A_KEY.exec(req.path) ?? [];
  const answer = routes[`${isRead ? 'GET' : req.method} ${req.path.replace(OF_A_KEY, '/keys/:cacheKey')}`];
  if (!answer) sendFile(req, res, next, isRead ? FILES[req.path] : undefined);
  // An application may allow other origins to read all its answers (CORS).
  else if (!isFromHere(req, isRead)) res.status(403).json({ detail: isRead ? READ_ELSEWHERE : CHANGED_ELSEWHERE });
  else {
    const found = await answer(keys, cacheKey, req);
    res
      .status(found ? 200 : 404)
      .json(found ?? { detail: 'There is no run with this cache key. It may have expired.' });
  }
}

const READ_ELSEWHERE = 'Keys are read on a page of this origin.';
const CHANGED_ELSEWHERE = 'A change must be made on a page of this origin, or name it in the header Origin.';

async function shown(keys: Keys, cacheKey: string, req: Request): Promise<object | undefined> {
  const run = await keys.get(cacheKey, { response: req.query['response'] === 'true' });
  if (!run?.response) return run;
  // As JSON, with the body in base64: bytes may be no text.
  const { status, headers, body } = run.response;
  return { ...run, response: { status, headers, body: body.toString('base64') } };
}

function sendFile(req: Request, res: Response, next: Next, file: string | undefined): void {
  // Links of the page are relative to its folder.
  const [, folder = '', query = ''] = /([^/?]*)(\?.*)?$/.exec(req.originalUrl) ?? [];
  if (file === undefined) next();
  else if (req.path === '/' && folder !== '') res.redirect(308, `./${folder}/${query}`);
  else res.sendFile(join(__dirname, 'page', file), { dotfiles: 'allow', cacheControl: false });
}

function queryOf({ query }: Request): KeysQuery {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const { limit, ...rest } = Object.fromEntries(given);
  return { ...rest, ...(limit !== undefined && { limit: Number(limit) }) };
}

/**
 * Browsers send `Sec-Fetch-Site` on secure pages (Fetch Metadata), and `Origin` with every change, and with what a page
 * of another origin would read (Fetch, 3.2). Who reads without a page, as curl does, sends neither, or `none`.
 */
function isFromHere({ headers }: Request, isRead: boolean): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin' || (isRead && site === 'none');
  if (origin === undefined) return isRead;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** Returns what the request says, whatever that is: `resolve()` looks at it. */
async function outcomeIn(req: Request & { readonly body?: unknown }): Promise<'ran' | 'did-not-run'> {
  const body: unknown = req.body ?? (await json(req).catch(() => undefined));
  return (Object(body) as { outcome: 'ran' }).outcome;
}

function asProblem(error: unknown): unknown {
  if (error instanceof TypeError) return new Problem('validation-failed', error.message);
  return error instanceof StoreUnavailable
    ? new Problem('store-unavailable', error.message, { headers: { 'Retry-After': '1' }, cause: error })
    : error;
}
