import express from 'express';
import multer from 'multer';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { bindRequest, dto, file, int, list, optional, string, type BindingOptions } from '../../../lib';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { ask, problemIn, toWire, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Upload extends dto({ title: string, photos: list(file), count: optional(int) }) {}
const FILES = {
  multipart: [
    ['title', 't'],
    ['photos', new File(['first'], 'a.png')],
    ['photos', new File(['second'], 'b.png')],
  ],
} satisfies Sent;

const directory = new TemporaryDirectory();
const onDisk: BindingOptions = { allowFormData: true, uploads: { storage: 'disk', directory: directory.path } };

afterEach(() => directory.emptied());
afterAll(() => directory.remove());

it('files in memory, where they are by default, are buffers', async () => {
  const { dto: bound } = await bind(Upload, FILES, { allowFormData: true });
  expect(bound?.photos.map(({ buffer }) => buffer.toString())).toEqual(['first', 'second']);
});

it('files on disk are there while the handler runs, in a folder of the user alone, and gone after the response', async () => {
  const app = express().post('/', bindRequest(Upload, onDisk), (req, res) => {
    const modes = new Set(req.dto.photos.map(({ path }) => statSync(dirname(path)).mode & 0o777));
    const texts = req.dto.photos.map(({ path }) => [path.startsWith(directory.path), readFileSync(path, 'utf8')]);
    res.json([...texts, ...modes]);
  });
  expect((await ask(app, FILES)).body).toEqual([[true, 'first'], [true, 'second'], 0o700]);
});

it('a file that the handler has moved is its own', async () => {
  const kept = `${directory.path}-kept`;
  const app = express().post('/', bindRequest(Upload, onDisk), (req, res) => {
    renameSync(req.dto.photos[0]?.path ?? '', kept);
    res.end();
  });
  expect((await ask(app, FILES)).status).toBe(200);
  await directory.emptied();
  expect(readFileSync(kept, 'utf8')).toBe('first');
  rmSync(kept);
});

const part = (name: string, value: string, more = '') =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const photo = (value: string) => part('photos', value, '; filename="a.png"');
const raw = (body: string): Sent => ({ body, headers: { 'Content-Type': 'multipart/form-data; boundary=x' } });

describe('files on disk are gone when a client is refused', () => {
  const named = (...parts: [string, string][]): Sent => ({
    multipart: [['photos', new File(['first'], 'a.png')], ...parts],
  });
  it.each<[string, Sent, BindingOptions['limits'], number]>([
    ['a missing value', named(), {}, 400],
    ['no closing boundary', raw(part('title', 't') + photo('first') + photo('second')), {}, 400],
    [
      'a file name without quotes',
      raw(`${photo('1')}${part('photos', '2', '; filename=my file.png')}--x--\r\n`),
      {},
      400,
    ],
    ['a file cut off half-way', raw(photo('first') + photo('second').slice(0, -5)), {}, 400],
    ['a broken part after a file', raw(`${photo('first')}--x\r\nfoo\r\n\r\n--x--\r\n`), {}, 400],
    ['a file that is too large', FILES, { fileBytes: 5 }, 413],
    ['too many files', FILES, { files: 1 }, 413],
    ['too many fields', named(['title', 't'], ['a', 'b']), { fields: 1 }, 413],
    ['a field that is too large', named(['title', 'x'.repeat(11)]), { fieldBytes: 10 }, 413],
    ['a part without a name', raw(`${photo('1')}--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n`), {}, 400],
  ])('%s', async (_what, sent, limits, expected) => {
    const { status, problem } = await bind(Upload, sent, { ...onDisk, ...(limits && { limits }) });
    expect([status, problem?.status]).toEqual([expected, expected]);
    expect(directory.files).toEqual([]);
  });

  it('an error in the handler, or in a middleware after', async () => {
    const app = express().post('/', bindRequest(Upload, onDisk), () => {
      throw new Error('no');
    });
    app.use((_error: Error, _req: express.Request, res: express.Response, next: express.NextFunction) => {
      if (res.headersSent) next();
      else res.status(500).end();
    });
    expect((await ask(app, FILES)).status).toBe(500);
    await directory.emptied();
  });
});

describe('files on disk are gone when the client hangs up', () => {
  it('while it sends', async () => {
    const ran = jest.fn();
    const { port } = await serve(express().post('/', bindRequest(Upload, onDisk), ran));
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n' +
        `${part('title', 't')}${photo('first')}${photo('half').slice(0, -4)}`,
    );
    await directory.filled();
    socket.destroy();
    await directory.emptied();
    expect(ran).not.toHaveBeenCalled();
  });

  it.each([
    ['while the handler runs', ''],
    ['while an earlier response of its connection is pending', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s', async (_when, before) => {
    const running = signal();
    const app = express()
      .get('/', () => undefined)
      .post('/', bindRequest(Upload, onDisk), () => running.happens());
    const { body = '', headers = {} } = await toWire(FILES);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    const { port } = await serve(app);
    const socket = connect(port, '127.0.0.1');
    socket.write(`${before}POST / HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    socket.write(body);
    await running.happened;
    expect(directory.files).toHaveLength(2);
    socket.destroy();
    await directory.emptied();
  });
});

describe("a Multer of the application's own", () => {
  afterEach(() => {
    for (const path of directory.files) rmSync(path);
  });

  it('its filter counts, and sees the request', async () => {
    const uploads = multer({
      fileFilter: (req, { originalname }, done) => {
        done(null, originalname === req.params['wanted']);
      },
    });
    const { dto: bound } = await bind(
      Upload,
      { ...FILES, path: '/b.png' },
      { route: '/:wanted', allowFormData: true, uploads },
    );
    expect(bound?.photos.map(({ originalname }) => originalname)).toEqual(['b.png']);
  });

  it("the error of its filter goes to the application's error handler", async () => {
    const uploads = multer({
      fileFilter: (_req, _file, done) => {
        done(Object.assign(new Error('only images'), { status: 422, expose: true }));
      },
    });
    const { status, response } = await bind(Upload, FILES, { allowFormData: true, uploads });
    expect([status, response.text]).toEqual([500, 'only images']);
  });

  it.each<[string, unknown]>([
    ['an Error', new Error('the bucket is gone')],
    ['an error of the system', Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })],
    ['a text', 'the bucket is gone'],
  ])(
    "a storage that fails is not the client's fault, and nothing half-bound reaches the handler: %s",
    async (_what, error) => {
      const uploads = multer({
        storage: {
          _handleFile: (_req, { stream }, done) => {
            stream.resume().on('end', () => {
              done(error);
            });
          },
          _removeFile: (_req, _file, done) => {
            done(null);
          },
        },
      });
      const { status, response, dto: bound } = await bind(Upload, FILES, { allowFormData: true, uploads });
      expect([status, problemIn(response), bound]).toEqual([500, undefined, undefined]);
    },
  );
});

describe('a file under a name that is not declared', () => {
  const undeclared: Sent = {
    multipart: [
      ...FILES.multipart,
      ['other', new File(['third'], 'c.png')],
      ['other.photos', new File(['fourth'], 'd.png')],
    ],
  };
  const during = async (options: BindingOptions, seen: (req: express.Request) => unknown): Promise<unknown> => {
    const app = express().post('/', bindRequest(Upload, { allowFormData: true, ...options }), (req, res) => {
      res.json(seen(req));
    });
    return (await ask(app, undeclared)).body as unknown;
  };

  it('is not kept, in memory or on disk', async () => {
    const inMemory = ({ files }: express.Request): string[] =>
      (files as Express.Multer.File[]).map(({ buffer }) => buffer.toString());
    expect(await during({}, inMemory)).toEqual(['first', 'second']);
    const there = (): string[] => directory.files.map(path => readFileSync(path, 'utf8')).sort();
    expect(await during(onDisk, there)).toEqual(['first', 'second']);
  });
});

describe('limits.formBytes', () => {
  const storages: readonly [string, BindingOptions][] = [
    ['memory', {}],
    ['disk', onDisk],
    ["a Multer of the application's own", { uploads: multer() }],
  ];

  it.each(storages)('bounds all of a form, its files included, however it is sent: %s', async (_where, options) => {
    const { headers, body = '' } = await toWire(FILES);
    const sent: Sent = { body: Buffer.from(body), headers: { 'Content-Type': headers?.['Content-Type'] ?? '' } };
    const statusOf = async (formBytes: number, more = {}): Promise<[number, string | undefined]> => {
      const { status, problem } = await bind(
        Upload,
        { ...sent, headers: { ...sent.headers, ...more } },
        { allowFormData: true, ...options, limits: { formBytes } },
      );
      return [status, problem?.type];
    };
    const chunked = { 'Transfer-Encoding': 'chunked' };
    for (const how of [{}, chunked]) {
      expect(await statusOf(body.length, how)).toEqual([200, undefined]);
      expect(await statusOf(body.length - 1, how)).toEqual([413, 'urn:bindonce:body-too-large']);
    }
  });

  it.each(storages)('a form that says that it is larger is refused before it is sent: %s', async (_where, options) => {
    const app = express().post(
      '/',
      bindRequest(Upload, { allowFormData: true, ...options, limits: { formBytes: 1_000 } }),
    );
    const { url } = await serve(app);
    const upload = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': '1001' },
    }).on('error', () => undefined);
    upload.flushHeaders();
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    upload.destroy();
  });
});
