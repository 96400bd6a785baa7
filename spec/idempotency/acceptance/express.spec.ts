import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import express, { type Express, type Request, type RequestHandler } from 'express';
import multer from 'multer';
import { idempotency } from '../../../lib';
import { countingService, typed } from '../../support/counting-service';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen, type Keyed, type Run } from '../../support/guarded';
import { send } from '../../support/listen';
import { multipart } from '../../support/multipart';
import { serve } from '../../support/serve';

/** Facts that other libraries have broken: wherever it is mounted, and whoever reads the body, a handler gets it, once. */

const both = (type: string, ...bodies: (string | Buffer)[]): Keyed[] => bodies.map(body => typed(type, body));
const upload = (...values: string[]): Keyed => {
  const file = { name: 'f', filename: 'f.txt', value: values.join() };
  return multipart([...values.map(value => ({ name: 'a', value })), file], 'b1');
};
/** A reader that is no parser of Express. */
const reading =
  (read: (req: Request) => Promise<unknown>): RequestHandler =>
  (req, _res, next) => {
    void read(req).then(body => next(void Object.assign(req, { body })), next);
  };
const long = JSON.stringify(['ü'.repeat(700_000)]);
const [x, y] = ['x'.repeat(900_000), 'y'.repeat(900_000)];

async function listened(req: Request): Promise<string> {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(req, 'end');
  return Buffer.concat(chunks).toString('hex');
}

async function called(req: Request): Promise<string> {
  let all = '';
  req.on('readable', () => {
    for (let chunk = req.read() as unknown; chunk !== null; chunk = req.read() as unknown) all += String(chunk);
  });
  await once(req, 'end');
  return all;
}

const [JSON_TYPE, FORM] = ['application/json', 'application/x-www-form-urlencoded'] as const;
const [onDisk, ofForm] = [{ body: JSON.parse(long) as unknown }, { body: { a: { b: ' ü' } } }];
/** A way to read a body, two bodies that differ, and what is made of the first. */
const readers: [how: string, make: (of: typeof express) => RequestHandler, sent: Keyed[], found: object][] = [
  ['express.json', of => of.json(), both(JSON_TYPE, '{"a":[1.5,"é"]}', '{"a":[2,"é"]}'), { body: { a: [1.5, 'é'] } }],
  ['express.json of what is on disk meanwhile', of => of.json({ limit: '5mb' }), both(JSON_TYPE, long, '[]'), onDisk],
  ['express.urlencoded', of => of.urlencoded({ extended: true }), both(FORM, 'a[b]=+%C3%BC', 'a[b]=+'), ofForm],
  ['express.text', of => of.text(), both('text/plain', 'grün', 'blau'), { body: 'grün' }],
  [
    'multer().single',
    () => multer().single('f'),
    [upload('1'), upload('22')],
    { body: { a: '1' }, file: 'f.txt of 1: 1' },
  ],
  [
    'multer().any',
    () => multer().any(),
    [upload('1', '2'), upload('2', '1')],
    { body: { a: ['1', '2'] }, files: ['f.txt of 3: 1,2'] },
  ],
  [
    'multer() of 2 MB',
    () => multer().single('f'),
    [upload(x, y), upload('x')],
    { body: { a: [x, y] }, file: `f.txt of 1800001: ${x.slice(0, 20)}` },
  ],
  ['a handler that streams', () => reading(text), both('text/csv', long, 'x'), { body: long }],
  ['a handler that listens', () => reading(listened), both('a/b', Buffer.from([0, 255, 128]), 'x'), { body: '00ff80' }],
  ['a handler that calls read()', () => reading(called), both('text/x-ours', x, 'x'), { body: x }],
];

const fileText = ({ originalname, size, buffer }: Express.Multer.File): string =>
  `${originalname} of ${size}: ${buffer.toString().slice(0, 20)}`;

/** Answers with what was made of the body. */
const tell: Run = ({ body, file, files }, res) =>
  res.json({
    body: body as unknown,
    file: file && fileText(file),
    files: Array.isArray(files) ? files.map(fileText) : undefined,
  });

/** Reads on while the next middlewares run, and leaves what it has read so far in `req.rawBody`. */
const readingOn: RequestHandler = (req, _res, next) => {
  let rawBody = Buffer.alloc(0);
  req.on('data', (chunk: Buffer) => {
    rawBody = Buffer.concat([rawBody, chunk]);
    Object.assign(req, { rawBody });
  });
  Object.assign(req, { rawBody });
  next();
};

describe.each(expressVersions)('%s', (_version, version) => {
  it.each(readers)(
    'with %s before and after idempotency(): the handler gets its body, and runs once',
    async (_how, make, [one, other], found) => {
      for (const place of ['before', 'behind'] as const) {
        const { post, runs } = await guarded({}, tell, { version, [place]: [make(version)] });
        const first = await post(one);
        expect(JSON.parse(first.text)).toEqual(found);
        expect(seen(await post(one))).toBe(`${first.text} again`);
        expect([(await post(other)).headers['idempotent-replayed'], runs()]).toEqual([undefined, 2]);
      }
    },
  );

  it('behind a middleware that sets req.rawBody while it reads, a request is an error that says what to do, and nothing runs', async () => {
    const { answersTo, runs } = await countingService({}, { version, before: [readingOn] });
    const told = expect.stringMatching(/^bindonce: .*Mount/) as string;
    expect([await answersTo(both(JSON_TYPE, '{}', '{}')), runs()]).toEqual([[told, told], 0]);
  });

  const jsonType = { 'Content-Type': 'application/json' };
  it.each<[string, Keyed]>([
    ['no body', {}],
    ['a Content-Length of 0', { headers: { 'Content-Length': '0', ...jsonType } }],
    ['an empty chunked body', { headers: { 'Transfer-Encoding': 'chunked', ...jsonType }, body: '' }],
    ['an announced body', { headers: { Expect: '100-continue', ...jsonType }, body: '{}' }],
  ])('a request with %s gets through, and is replayed', async (_title, request) => {
    const { post } = await guarded({}, (req, res) => res.json(req.body ?? {}), { version, behind: [version.json()] });
    expect([seen(await post(request)), seen(await post(request))]).toEqual(['{}', '{} again']);
  });

  const at = '/shop/:id/orders';
  const inner = (...handlers: RequestHandler[]) => version.Router({ mergeParams: true }).post('/orders', ...handlers);
  it.each<[string, (app: Express, guard: RequestHandler, ...handlers: RequestHandler[]) => unknown]>([
    ['for the application', (app, guard, ...handlers) => app.use(guard).post(at, ...handlers)],
    ['for a path', (app, guard, ...handlers) => app.use('/shop', guard).post(at, ...handlers)],
    ['in an array', (app, guard, ...handlers) => app.post(at, [guard, ...handlers])],
    ['by route()', (app, guard, ...handlers) => app.route(at).all(guard, ...handlers)],
    ['before a router', (app, guard, ...handlers) => app.use('/shop/:id', guard, inner(...handlers))],
    ['in nested routers', (app, ...handlers) => app.use('/shop', version.Router().use('/:id', inner(...handlers)))],
    ['in a mounted application', (app, ...handlers) => app.use('/shop', version().post('/:id/orders', ...handlers))],
    ['twice', (app, guard, ...handlers) => app.use(guard).post(at, idempotency(), guard, ...handlers)],
  ])('mounted %s, it guards the handler, once, and leaves it its body', async (_where, mount) => {
    let runs = 0;
    const app = version();
    mount(app, idempotency(), version.json(), (req, res) => {
      res.json({ run: ++runs, id: req.params['id'], url: req.originalUrl, body: req.body as unknown });
    });
    const { url } = await serve(app);
    const headers = { ...jsonType, 'Idempotency-Key': 'k' };
    const ask = async (id: number) => seen(await send(`${url}/shop/${id}/orders?a=1`, { headers, body: '[7]' }));
    const answer = (run: number, id: number): string =>
      `{"run":${run},"id":"${id}","url":"/shop/${id}/orders?a=1","body":[7]}`;
    expect([await ask(7), await ask(7), await ask(8)]).toEqual([answer(1, 7), `${answer(1, 7)} again`, answer(2, 8)]);
  });
});
