import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import version5, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import multer from 'multer';
import { bindRequest, dto, file, idempotency, optional, string } from '../../lib';
import { ask, type Sent } from '../support/ask';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { TemporaryDirectory } from '../support/temporary-directory';

class Upload extends dto({ title: optional(string), note: optional(string), scan: optional(file) }) {}

/** Reads the whole body, and leaves what is made of its bytes. */
const leaving =
  (leave: (bytes: Buffer, req: Request) => void): RequestHandler =>
  (req, _res, next) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      leave(Buffer.concat(chunks), req);
      next();
    });
  };
const body = (make: (bytes: Buffer) => unknown): RequestHandler =>
  leaving((bytes, req) => {
    Object.assign(req, { body: make(bytes) });
  });

const text = (title: string, scan: BlobPart = 'scan'): Sent => ({
  multipart: [
    ['title', title],
    ['scan', new File([scan], 'a.txt')],
  ],
});
describe.each(expressVersions)('%s', (_version, version) => {
  const textParser = version.text({ type: () => true });

  /** Returns the run that answered each request, or the error; every request is sent with the same key. */
  async function answers(parser: RequestHandler, guards: readonly RequestHandler[], sent: readonly Sent[]) {
    let runs = 0;
    const app: Express = version();
    app.post('/', parser, ...guards, (req: Request, res: Response) => {
      const { title, note, scan } = (req.dto ?? {}) as Upload;
      res.json([++runs, title, note, scan?.buffer.toString()].filter(value => value !== undefined));
    });
    app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
      if (res.headersSent) next(error);
      else res.status(500).json(error.message);
    });
    const { url } = await serve(app);
    const all: unknown[] = [];
    for (const one of sent) all.push(JSON.parse((await ask(url, { key: 'k', ...one })).text));
    return all;
  }
  const bound = (): RequestHandler =>
    bindRequest(Upload, { allowFormData: { urlEncoded: true } }) as unknown as RequestHandler;

  const parsers: readonly (readonly [string, RequestHandler])[] = [
    ['as a Uint8Array', body(bytes => new Uint8Array(bytes))],
    ['as an ArrayBuffer', body(bytes => new Uint8Array(bytes).buffer)],
    [
      'in req.rawBody',
      leaving((bytes, req) => {
        Object.assign(req, { rawBody: bytes, body: {} });
      }),
    ],
  ];

  it.each(parsers)(
    'a form whose bytes are left %s is one request under each boundary, and bound',
    async (_what, parser) => {
      const sent = [text('é'), text('é'), text('è'), { ...text('è'), headers: { 'Transfer-Encoding': 'chunked' } }];
      expect(await answers(parser, [idempotency()], sent)).toEqual([[1], [1], [2], [2]]);
      expect(await answers(parser, [bound()], [text('é')])).toEqual([[1, 'é', 'scan']]);
    },
  );

  it('a form that is left as text is an error that says what to do', async () => {
    for (const guards of [[idempotency()], [bound()]])
      expect(await answers(textParser, guards, [text('a')])).toEqual([
        expect.stringMatching(/left a multipart form in req\.body as text.*Mount bindonce before.*req\.rawBody/),
      ]);
  });

  it('files of another parser than multer are an error that says what to do', async () => {
    const fileupload = leaving((_bytes, req) => {
      Object.assign(req, {
        body: { title: 'a' },
        files: { scan: { name: 'a.txt', size: 4, data: Buffer.from('scan') } },
      });
    });
    for (const guards of [[idempotency()], [bound()]])
      expect(await answers(fileupload, guards, [text('a')])).toEqual([
        expect.stringMatching(
          /req\.files holds files that multer has not made\. Mount bindonce before .* or use multer/,
        ),
      ]);
  });

  it('a form left as URLSearchParams is bound, and one left as another collection is an error', async () => {
    const form = { form: 'title=a&note=b' };
    const parsed = body(bytes => new URLSearchParams(String(bytes)));
    expect(await answers(parsed, [bound()], [form])).toEqual([[1, 'a', 'b']]);
    for (const sent of [form, text('a')])
      expect(
        await answers(
          body(() => new Map([['title', 'a']])),
          [bound()],
          [sent],
        ),
      ).toEqual([expect.stringContaining('req.body holds the form as a Map, whose values bindRequest() cannot read')]);
  });
});

describe('files that multer has written in front of idempotency()', () => {
  const directory = new TemporaryDirectory();
  afterAll(() => {
    directory.remove();
  });
  const photo = (key: string, name: string): Sent => ({ key, multipart: [['photo', new File(['one'], name)]] });
  const shop = async (upload: RequestHandler) => {
    const mayEnd = signal();
    const app = version5().post(
      '/',
      upload,
      idempotency({ whenInFlight: 'reject', whenKeyReused: 'reject' }),
      (req, res) => {
        const stored = () => res.json(req.file?.path);
        if (req.get('Idempotency-Key') !== 'slow') return stored();
        running.happens();
        void mayEnd.happened.then(stored);
      },
    );
    const running = signal();
    const { url } = await serve(app);
    return { url, running, mayEnd };
  };
  const left = (): string[] => readdirSync(directory.path);

  it('are removed for a replay, a key that is reused and one in flight; those of the run stay', async () => {
    const { url, running, mayEnd } = await shop(multer({ dest: directory.path }).single('photo'));
    const slow = ask(url, photo('slow', 'a.png'));
    await running.happened;
    expect((await ask(url, photo('slow', 'a.png'))).status).toBe(409);
    mayEnd.happens();
    const stored = [JSON.parse((await slow).text) as string];
    expect((await ask(url, photo('slow', 'a.png'))).headers['idempotent-replayed']).toBe('true');
    expect((await ask(url, photo('slow', 'b.png'))).status).toBe(422);
    while (left().length > 1) await turn();
    expect(left()).toEqual(stored.map(path => basename(path)));
  });

  it('stay under a name that the application has chosen: the first request may have stored its file there', async () => {
    const storage = multer.diskStorage({
      destination: directory.path,
      filename: (_req, { originalname }, done) => done(null, originalname),
    });
    const { url } = await shop(multer({ storage }).single('photo'));
    for (let round = 0; round < 2; round++) await ask(url, photo('k', 'a.png'));
    expect(left()).toContain('a.png');
  });
});
