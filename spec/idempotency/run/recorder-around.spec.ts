import type { RequestHandler, Response } from 'express';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** What writes the head of a response: what a middleware may still do in `end` depends on it. */
type HeadBy = 'end' | 'write' | 'writeHead';
type Method = (...args: unknown[]) => Response;

/** Middlewares that put their own methods before those of `res`, and the responses that they are made for. */
const wrappers: [title: string, wrap: (res: Response) => void, fits: readonly HeadBy[]][] = [
  [
    'sets a header in writeHead',
    res => {
      const writeHead = res.writeHead.bind(res) as Method;
      res.writeHead = (...args: unknown[]) => {
        res.setHeader('X-Took', '1');
        return writeHead(...args);
      };
    },
    ['end', 'write', 'writeHead'],
  ],
  [
    'gives writeHead one header more',
    res => {
      const writeHead = res.writeHead.bind(res) as Method;
      res.writeHead = ((status: number, headers: object) =>
        writeHead(status, { ...headers, 'X-Took': '1' })) as Response['writeHead'];
    },
    ['end', 'write', 'writeHead'],
  ],
  ...(['at once', 'later'] as const).map((when): (typeof wrappers)[number] => [
    `writes ${when} in end what it is given`,
    res => {
      const end = res.end.bind(res) as Method;
      res.end = ((chunk: unknown) => {
        const pass = (): Response => {
          if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) res.write(chunk);
          return end();
        };
        if (when === 'at once') return pass();
        setImmediate(pass);
        return res;
      }) as Response['end'];
    },
    ['write', 'writeHead'],
  ]),
];

const answers: [title: string, headBy: HeadBy, handler: RequestHandler, method?: string][] = [
  ['json', 'end', (_req, res) => void res.json({ a: 'b' })],
  ['end with text', 'end', (_req, res) => void res.end('text')],
  ['an empty end', 'end', (_req, res) => void res.end()],
  ['204', 'end', (_req, res) => void res.status(204).end()],
  ['204 by send', 'end', (_req, res) => void res.status(204).send()],
  ['a redirect', 'end', (_req, res) => res.redirect(303, '/there')],
  ['json to HEAD', 'end', (_req, res) => void res.json({ a: 'b' }), 'HEAD'],
  ['a redirect to HEAD', 'end', (_req, res) => res.redirect(303, '/there'), 'HEAD'],
  [
    'write and end',
    'write',
    (_req, res) => {
      res.write('one');
      res.end('two');
    },
  ],
  ['writeHead and end', 'writeHead', (_req, res) => void res.writeHead(201, { 'X-A': 'a' }).end('text')],
];

const wrapped = wrappers.flatMap(([wrapper, wrap, fits]) =>
  ['before', 'after'].flatMap(position =>
    answers
      .filter(([, headBy]) => fits.includes(headBy))
      .map(([title, , handler, method = 'POST']) => ({ wrapper, wrap, position, title, handler, method })),
  ),
);

const sorted = (response: WireResponse): WireResponse => ({ ...response, lines: [...response.lines].sort() });

describe.each(expressVersions)('on %s', (_version, express) => {
  it.each(wrapped)(
    '$title behind a middleware mounted $position us that $wrapper is what it would be without us, and its replay too',
    async ({ wrap, position, handler, method }) => {
      let runs = 0;
      const counted: RequestHandler = (req, res, next) => {
        runs++;
        return handler(req, res, next);
      };
      const middleware: RequestHandler = (_req, res, next) => {
        wrap(res);
        next();
      };
      const guard = idempotency({ addHeaderToResponse: false });
      const app = express()
        .all('/bare', middleware, handler)
        .all('/guarded', ...(position === 'before' ? [middleware, guard] : [guard, middleware]), counted);
      const { url } = await serve(app);
      const ask = (path: string): Promise<WireResponse> => send(url + path, { method, headers: keyed('k') });

      const bare = await ask('/bare');
      const first = await ask('/guarded');
      const replay = await ask('/guarded');

      expect(visible(sorted(first))).toEqual(visible(sorted(bare)));
      expect(visibleReplay(sorted(replay))).toEqual(visible(sorted(first)));
      expect(runs).toBe(1);
    },
    60_000,
  );
});
