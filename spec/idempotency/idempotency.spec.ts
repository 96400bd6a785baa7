import type { RequestHandler } from 'express';
import multer from 'multer';
import { idempotency } from '../../lib';
import { send, type WireRequest, type WireResponse } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';
import { keyed, visible, visibleReplay } from '../support/replays';

type Express = (typeof expressVersions)[number][1];

/** A body parser, two bodies for it that differ, and what it makes of the first. */
interface Parser {
  readonly title: string;
  readonly make: (express: Express) => RequestHandler;
  readonly requests: readonly [WireRequest, WireRequest];
  readonly parsed: unknown;
}

const typed = (type: string, body: string | Buffer): WireRequest => ({ headers: { 'Content-Type': type }, body });
const form = (...values: string[]): WireRequest =>
  multipart(
    [...values.map(value => ({ name: 'a', value })), { name: 'f', filename: 'f.txt', value: values.join() }],
    'b1',
  );

const parsers: Parser[] = [
  {
    title: 'express.json',
    make: express => express.json(),
    requests: [typed('application/json', '{"a":[1,"é"]}'), typed('application/json', '{"a":[2,"é"]}')],
    parsed: { body: { a: [1, 'é'] } },
  },
  {
    title: 'express.json of 3 MB',
    make: express => express.json({ limit: '5mb' }),
    requests: [typed('application/json', `["${'x'.repeat(3_000_000)}"]`), typed('application/json', '[]')],
    parsed: { body: ['x'.repeat(3_000_000)] },
  },
  {
    title: 'express.urlencoded',
    make: express => express.urlencoded({ extended: true }),
    requests: [
      typed('application/x-www-form-urlencoded', 'a[b]=1&c=+2'),
      typed('application/x-www-form-urlencoded', 'a[b]=2&c=+2'),
    ],
    parsed: { body: { a: { b: '1' }, c: ' 2' } },
  },
  {
    title: 'express.text',
    make: express => express.text(),
    requests: [typed('text/plain', 'grün'), typed('text/plain', 'blau')],
    parsed: { body: 'grün' },
  },
  {
    title: 'express.raw',
    make: express => express.raw(),
    requests: [
      typed('application/octet-stream', Buffer.from([0, 255])),
      typed('application/octet-stream', Buffer.from([0, 254])),
    ],
    parsed: { body: { type: 'Buffer', data: [0, 255] } },
  },
  {
    title: 'multer().none',
    make: () => multer().none(),
    requests: [multipart([{ name: 'a', value: '1' }], 'b1'), multipart([{ name: 'a', value: '2' }], 'b1')],
    parsed: { body: { a: '1' } },
  },
  {
    title: 'multer().single',
    make: () => multer().single('f'),
    requests: [form('1'), form('22')],
    parsed: { body: { a: '1' }, file: 'f.txt of 1: 1' },
  },
  {
    title: 'multer().any',
    make: () => multer().any(),
    requests: [form('1', '2'), form('2', '1')],
    parsed: { body: { a: ['1', '2'] }, files: ['f.txt of 3: 1,2'] },
  },
  {
    title: 'multer().fields',
    make: () => multer().fields([{ name: 'f' }]),
    requests: [form('1'), form('22')],
    parsed: { body: { a: '1' }, files: ['f.txt of 1: 1'] },
  },
  {
    title: 'multer() of 2 MB',
    make: () => multer().single('f'),
    requests: [form('x'.repeat(900_000), 'y'.repeat(900_000)), form('x')],
    parsed: { body: { a: ['x'.repeat(900_000), 'y'.repeat(900_000)] }, file: `f.txt of 1800001: ${'x'.repeat(20)}` },
  },
  {
    title: 'a handler that streams',
    make: () => streamed,
    requests: [typed('application/vnd.of-ours', 'one'), typed('application/vnd.of-ours', 'two')],
    parsed: { body: 'one' },
  },
  {
    title: 'a handler that listens',
    make: () => listened,
    requests: [typed('text/csv', 'x'.repeat(200_000)), typed('text/csv', 'x')],
    parsed: { body: 'x'.repeat(200_000) },
  },
];

const streamed: RequestHandler = (req, _res, next) => {
  void (async () => {
    let text = '';
    for await (const chunk of req) text += String(chunk);
    req.body = text;
  })().then(() => {
    next();
  }, next);
};

const listened: RequestHandler = (req, _res, next) => {
  const chunks: Buffer[] = [];
  req
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      req.body = Buffer.concat(chunks).toString();
      next();
    });
};

const file = ({ originalname, size, buffer }: Express.Multer.File): string =>
  `${originalname} of ${size}: ${buffer.toString().slice(0, 20)}`;

/** Answers with what a parser has made of the body. */
const tell: RequestHandler = ({ body, file: one, files }, res) => {
  res.json({
    body: body as unknown,
    file: one && file(one),
    files: files && (Array.isArray(files) ? files : Object.values(files).flat()).map(file),
  });
};

const orders = parsers.flatMap(parser => (['before', 'after'] as const).map(position => ({ ...parser, position })));

describe.each(expressVersions)('on %s', (_version, express) => {
  it.each(orders)(
    '$title mounted $position us parses the body as ever, and the body counts',
    async ({ make, position, requests, parsed }) => {
      let runs = 0;
      const count: RequestHandler = (_req, _res, next) => {
        runs++;
        next();
      };
      const guard = idempotency();
      const parser = make(express);
      const { url } = await serve(
        express().post('/', ...(position === 'before' ? [parser, guard] : [guard, parser]), count, tell),
      );
      const post = ({ headers = {}, body }: WireRequest): Promise<WireResponse> =>
        send(url, { headers: { 'Idempotency-Key': 'k', ...headers }, body });

      const first = await post(requests[0]);
      expect([first.status, JSON.parse(first.text)]).toEqual([200, parsed]);
      expect(visibleReplay(await post(requests[0]))).toEqual(visible(first));
      expect(runs).toBe(1);
      const other = await post(requests[1]);
      expect(other.text).not.toBe(first.text);
      expect(runs).toBe(2);
    },
    60_000,
  );

  it.each<[string, WireRequest]>([
    ['no body', {}],
    ['a Content-Length of 0', { headers: { 'Content-Length': '0', 'Content-Type': 'application/json' } }],
    [
      'an empty chunked body',
      { headers: { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' }, body: '' },
    ],
    ['an announced body', { headers: { Expect: '100-continue', 'Content-Type': 'application/json' }, body: '{}' }],
  ])(
    'a request with %s gets through',
    async (_title, { headers = {}, body }) => {
      const { url } = await serve(
        express().post('/', idempotency(), express.json(), (req, res) => {
          res.json(req.body ?? {});
        }),
      );
      const post = () => send(url, { headers: { 'Idempotency-Key': 'k', ...headers }, body });
      expect((await post()).text).toBe('{}');
      expect((await post()).headers['idempotent-replayed']).toBe('true');
    },
    60_000,
  );

  it.each<[string, (app: ReturnType<Express>, guard: RequestHandler, handler: RequestHandler) => unknown]>([
    ['for the application', (app, guard, handler) => app.use(guard).post('/v1/orders/:id', handler)],
    ['for a path', (app, guard, handler) => app.use('/v1/orders', guard).post('/v1/orders/:id', handler)],
    ['for a route', (app, guard, handler) => app.post('/v1/orders/:id', guard, handler)],
    ['in an array', (app, guard, handler) => app.post('/v1/orders/:id', [guard, handler])],
    ['by route()', (app, guard, handler) => app.route('/v1/orders/:id').all(guard).post(handler)],
    [
      'in a nested router',
      (app, guard, handler) =>
        app.use('/v1', express.Router().use('/orders', express.Router().use(guard).post('/:id', handler))),
    ],
    [
      'before a nested router',
      (app, guard, handler) =>
        app.use('/v1', guard, express.Router().use('/orders', express.Router().post('/:id', handler))),
    ],
    [
      'in a mounted application',
      (app, guard, handler) => app.use('/v1', express().post('/orders/:id', guard, handler)),
    ],
    [
      'for the application and for the route',
      (app, guard, handler) => app.use(guard).post('/v1/orders/:id', idempotency(), guard, handler),
    ],
  ])('mounted %s, it guards the handler, once', async (_title, mount) => {
    let runs = 0;
    const app = express();
    mount(app, idempotency(), (req, res) => {
      runs++;
      res.json({ id: req.params['id'], url: req.originalUrl });
    });
    const { url } = await serve(app);
    const first = await send(`${url}/v1/orders/7?a=1`, { headers: keyed('k') });
    expect(JSON.parse(first.text)).toEqual({ id: '7', url: '/v1/orders/7?a=1' });
    expect(visibleReplay(await send(`${url}/v1/orders/7?a=1`, { headers: keyed('k') }))).toEqual(visible(first));
    expect((await send(`${url}/v1/orders/8?a=1`, { headers: keyed('k') })).text).toContain('"id":"8"');
    expect(runs).toBe(2);
  });
});
