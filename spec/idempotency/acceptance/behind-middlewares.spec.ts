import { text } from 'node:stream/consumers';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import Keyv from 'keyv';
import multer from 'multer';
import { idempotency } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { send, type WireRequest } from '../../support/listen';
import { multipart, type Part } from '../../support/multipart';
import { serve } from '../../support/serve';
import { TemporaryDirectory } from '../../support/temporary-directory';

const directory = new TemporaryDirectory();

afterAll(() => {
  directory.remove();
});

interface Given {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const KEY = { 'Idempotency-Key': 'k' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const json = (amount: number): Given => ({ headers: JSON_TYPE, body: JSON.stringify({ amount }) });
const form = (...parts: Part[]): Given => multipart(parts, 'b1');
const amount = (value: string): Part => ({ name: 'amount', value });
const receipt: Part = { name: 'receipt', value: 'hello', filename: 'r.txt', type: 'text/plain' };

/** Reads a form with multer, and puts its fields and files where the middlewares of other parsers do. */
const formOf =
  (leave: (req: Request, fields: unknown) => void): RequestHandler =>
  (req, res, next) => {
    void multer({ dest: directory.path }).any()(req, res, (error?: unknown) => {
      const { body: fields } = req as { body?: unknown };
      Reflect.deleteProperty(req, 'body');
      leave(req, fields);
      next(error);
    });
  };

/** The files as formidable makes them. */
function asFormidable(req: Request): void {
  const files = (req.files as Express.Multer.File[]).map(({ fieldname, originalname, size, path, mimetype }) => [
    fieldname,
    [{ originalFilename: originalname, size, filepath: path, mimetype }],
  ]);
  Object.assign(req, { files: Object.fromEntries(files) as unknown });
}

/** Reads on while the next middlewares run, and leaves what it has read so far in `req.rawBody`. */
const reading: RequestHandler = (req, _res, next) => {
  let read = Buffer.alloc(0);
  req.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    Object.assign(req, { rawBody: read });
  });
  Object.assign(req, { rawBody: read });
  next();
};

describe.each(expressVersions)('on %s, behind a middleware that', (_version, express) => {
  /** Sends both requests twice. @returns how often the handler ran, the statuses, and the messages of errors. */
  async function answers(middlewares: RequestHandler[], one: Given, other: Given) {
    let runs = 0;
    const errors: string[] = [];
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      errors.push(error.message);
      if (res.headersSent) next(error);
      else res.status(500).end();
    };
    const app = express()
      .use(...middlewares)
      .post('/t/:tenant/orders', idempotency({ store: new Keyv() }), (_req, res) => void res.json({ run: ++runs }))
      .use(onError);
    const { url } = await serve(app);
    const statuses: number[] = [];
    for (const { path = '/t/a/orders', headers, body } of [one, other, one, other]) {
      const request: WireRequest = { headers: { ...KEY, ...headers }, body };
      statuses.push((await send(url + path, request)).status);
    }
    return { runs, statuses, errors };
  }

  it.each<[string, RequestHandler[], Given]>([
    [
      'keeps the body elsewhere, and before one that sets req.body to {}',
      [
        (req, _res, next) => {
          void text(req).then(payload => {
            Object.assign(req, { payload });
            next();
          });
        },
        (req, _res, next) => {
          req.body ??= {};
          next();
        },
      ],
      json(10),
    ],
    ['sets req.rawBody while it reads', [reading], json(10)],
    [
      'leaves files as formidable makes them, and the fields nowhere',
      [
        formOf(req => {
          asFormidable(req);
        }),
      ],
      form(amount('10'), receipt),
    ],
    [
      'keeps the body elsewhere, and something else in req.fields',
      [
        (req, _res, next) => {
          void text(req).then(payload => {
            Object.assign(req, { payload, fields: ['id'] });
            next();
          });
        },
      ],
      json(10),
    ],
  ])('%s, a request is an error that says what to do, and nothing runs', async (_what, middlewares, given) => {
    const { runs, statuses, errors } = await answers(middlewares, given, given);
    expect([runs, ...statuses]).toEqual([0, 500, 500, 500, 500]);
    expect(errors[0]).toMatch(/^bindonce: .*Mount/);
  });
});
