import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import compression from 'compression';
import cors from 'cors';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import { expressVersions } from '../../support/express-versions';
import { guarded, type Run } from '../../support/guarded';
import { visible, visibleReplay } from '../../support/replays';

/** Facts that other libraries have broken: middlewares around idempotency() work as they do without it, and see true values. */

// Neither has types of its own here.
const load = createRequire(__filename);
const onHeaders = load('on-headers') as (res: ServerResponse, listener: (this: Response) => void) => void;
const onFinished = load('on-finished') as {
  (res: ServerResponse, listener: (error: Error | null, res: Response) => void): void;
  isFinished(res: ServerResponse): boolean;
};

const TEXT = 'Lorem ipsum, grün. '.repeat(500);
const answers: readonly Run[] = [
  (_req, res) => res.status(201).json({ TEXT }),
  (_req, res) => {
    res.type('html').write(TEXT);
    res.end('end');
  },
  (_req, res) => res.writeHead(202, 'Taken', { 'Content-Type': 'text/plain', 'Set-Cookie': ['a=1', 'b=2'] }).end(TEXT),
  (_req, _res, next) => next(Object.assign(new Error('no'), { status: 409, expose: true })),
  (_req, res) => res.sendStatus(204),
  (_req, res) => res.redirect('/elsewhere'),
];
const sessions = (options: object = {}): RequestHandler =>
  session({ secret: 's', resave: false, saveUninitialized: true, genid: () => 'the-one', ...options });
const listensToHeaders: RequestHandler = (_req, res, next) => {
  onHeaders(res, function () {
    this.setHeader('X-Status', String(this.statusCode));
    this.removeHeader('ETag');
  });
  next();
};
/** What other middlewares do to `res`: a `writeHead` of their own, an `end` that writes, at once or later, what it is given. */
const ownWriteHead: RequestHandler = (_req, res, next) => {
  const { writeHead } = res;
  res.writeHead = ((...args: unknown[]) => {
    res.setHeader('X-Took', '1');
    const [status, ...more] = args;
    return typeof more[0] === 'object'
      ? writeHead.call(res, status as number, { ...more[0], 'X-More': '1' } as never)
      : Reflect.apply(writeHead, res, args);
  }) as Response['writeHead'];
  next();
};
const ownEnd =
  (later: boolean): RequestHandler =>
  (_req, res, next) => {
    const end = res.end.bind(res) as (chunk?: unknown) => Response;
    res.end = ((chunk?: unknown) => {
      const pass = (): unknown => {
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) res.write(chunk);
        return end();
      };
      if (later && res.headersSent) setImmediate(pass);
      else if (res.headersSent) pass();
      else end(chunk);
      return res;
    }) as Response['end'];
    next();
  };
const credentials = { origin: ['https://shop.example'], credentials: true, exposedHeaders: ['ETag', 'X-Replayed'] };
const policy = { directives: { 'script-src': ["'self'"] } };

const onError: ErrorRequestHandler = (error: Error & { status: number }, _req, res, next) => {
  if (res.headersSent) next(error);
  else res.status(error.status).json({ error: error.message });
};

describe.each(expressVersions)('%s', (_version, version) => {
  describe.each(['before', 'behind'] as const)('%s idempotency(),', place => {
    it.each<[what: string, () => RequestHandler[]]>([
      ['compression (gzip)', () => [compression({ threshold: 0 })]],
      ['helmet', () => [helmet({ contentSecurityPolicy: policy, xPoweredBy: false })]],
      ['cors', () => [cors(credentials)]],
      ['express-session', () => [sessions({ resave: true, rolling: true })]],
      ['on-headers', () => [listensToHeaders]],
      ['a writeHead of its own', () => [ownWriteHead]],
      ['an end that writes', () => [ownEnd(false)]],
      ['an end that writes later', () => [ownEnd(true)]],
      ['all of them', () => [helmet(), cors(), sessions(), compression()]],
    ])('%s does to every response, and to its replay, what it does without idempotency()', async (_what, make) => {
      for (const act of answers) {
        const { app, post } = await guarded({ addHeaderToResponse: false }, act, { version, [place]: make() });
        app.use(onError);
        const ask = (path = '') =>
          post({ path, headers: { 'Accept-Encoding': 'gzip', Origin: 'https://shop.example' } });
        // In which order middlewares add their lines is theirs.
        const sorted = ({ lines, ...rest }: ReturnType<typeof visible>) => ({ ...rest, lines: [...lines].sort() });
        const bare = sorted(visible(await ask('/bare')));
        expect(sorted(visible(await ask()))).toEqual(bare);
        expect(sorted(visibleReplay(await ask()))).toEqual(bare);
      }
    });

    it('morgan logs what was sent, once for each request that it sees', async () => {
      const logged: string[] = [];
      const write = (line: string): void => void logged.push(line.trim());
      const logger = morgan(':method :status :res[content-length] :res[x-a]', { stream: { write } });
      const act: Run = (_req, res) => {
        res.status(202).set('X-A', 'a').send('seven b');
        res.statusCode = 500;
      };
      const { post } = await guarded({}, act, { version, [place]: [logger] });
      await post();
      await post();
      expect(logged).toEqual(Array.from({ length: place === 'before' ? 2 : 1 }, () => 'POST 202 7 a'));
    });

    it('on-finished is told when the response has been sent, and not before', async () => {
      const told: unknown[] = [];
      const listener: RequestHandler = (_req, res, next) => {
        onFinished(res, (error, { statusCode, headersSent, writableFinished }) => {
          told.push([error, statusCode, headersSent, writableFinished]);
        });
        told.push(onFinished.isFinished(res));
        next();
      };
      const act: Run = (_req, res) => {
        res.status(201).write('a');
        told.push(onFinished.isFinished(res));
        res.end('b');
        told.push('ended');
      };
      const { post } = await guarded({}, act, { version, [place]: [listener] });
      await post();
      while (told.length < 4) await new Promise(setImmediate);
      expect(told).toEqual([false, false, 'ended', [null, 201, true, true]]);
    });

    it('a session of express-session is saved before the client has its answer, and each caller has their own', async () => {
      const saved: string[] = [];
      class SlowStore extends session.MemoryStore {
        override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
          setTimeout(() => super.set(id, data, error => (saved.push(id), done?.(error))), 30);
        }
      }
      const slow = session({ secret: 's', resave: false, saveUninitialized: false, store: new SlowStore() });
      const act: Run = (req: Request & { session?: { orders?: number } }, res) => {
        const own = req.session as { orders?: number };
        own.orders = (own.orders ?? 0) + 1;
        res.json(own.orders);
      };
      const { post } = await guarded({ scope: req => req.get('X-Who') }, act, { version, [place]: [slow] });
      const ask = (who: string, key: string, Cookie = '') => post({ key, headers: { 'X-Who': who, Cookie } });
      const both = [await ask('ann', 'k'), await ask('bob', 'k')];
      expect(saved).toHaveLength(2);
      const [ann, bob] = both.map(({ headers }) => headers['set-cookie']?.[0]?.split(';', 1)[0]);
      expect(ann).not.toBe(bob);
      const orders = [await ask('ann', 'k2', ann), await ask('ann', 'k2', ann), await ask('bob', 'k3', bob)];
      expect([...orders, await ask('ann', 'k3', ann)].map(({ text }) => text)).toEqual(['2', '2', '2', '3']);
    });
  });

  it('compression before idempotency() packs each replay as its own client asks', async () => {
    const { post } = await guarded({}, (_req, res) => res.type('text').send(TEXT), {
      version,
      before: [compression()],
    });
    const unpack = { gzip: gunzipSync, br: brotliDecompressSync, identity: (body: Buffer) => body };
    for (const [coding, unpacked] of Object.entries(unpack)) {
      const { headers, body } = await post({ headers: { 'Accept-Encoding': coding } });
      expect(headers['content-encoding'] ?? 'identity').toBe(coding);
      expect(headers['idempotent-replayed']).toBe(coding === 'gzip' ? undefined : 'true');
      expect(String(unpacked(body))).toBe(TEXT);
    }
  });
});
