import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { z } from 'zod';
import { bindRequest, dto, file, fromForm, idempotency, int, list, optional, string } from '../../../lib';
import type { AnyType, BindingOptions } from '../../../lib';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { ask, toWire, type Sent } from '../../support/ask';
import { errorAsText } from '../../support/error-as-text';
import { expressVersions } from '../../support/express-versions';
import { multipart, type Part } from '../../support/multipart';
import { bind } from '../../support/one-endpoint';

class Upload extends dto({ title: optional(string), photos: list(file), count: optional(int) }) {}

const photo = (content: string, name = 'photos'): readonly [string, File] => [name, new File([content], 'a.png')];
const FILES = [['title', 't'], photo('first'), photo('second')] as const;
const part = (name: string, value: string, more = '') =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const rawPhoto = (value: string) => part('photos', value, '; filename="a.png"');
const NAMELESS = '--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n';
const raw = (body: string): Sent => ({ body, headers: { 'Content-Type': 'multipart/form-data; boundary=x' } });

const [stored, own] = [new TemporaryDirectory(), new TemporaryDirectory()];
afterEach(async () => {
  for (const path of own.files) rmSync(path);
  await stored.emptied();
});
afterAll(() => {
  for (const directory of [stored, own]) directory.remove();
});
const multipartOf = (uploads?: BindingOptions['uploads']): BindingOptions => ({
  allowFormData: true,
  ...(uploads && { uploads }),
});
const inMemory = multipartOf();
const onDisk = multipartOf({ storage: 'disk', directory: stored.path });
const inOwn = (more: multer.Options = {}): BindingOptions =>
  multipartOf(multer({ storage: multer.diskStorage({ destination: own.path }), ...more }));
const fails = (): never => {
  throw new Error('no');
};

/** What a handler behind `bindRequest(Upload)` answers. */
const during = async (
  options: BindingOptions,
  handler: (req: express.Request) => unknown,
  sent: Sent['multipart'] = FILES,
) => {
  const answer: RequestHandler = (req, res) => void res.json(handler(req));
  const app = express().post('/', bindRequest(Upload, options) as RequestHandler, answer);
  return (await ask(app.use(errorAsText), { multipart: sent })).body as unknown;
};
const filesOf = (req: express.Request) => (req.dto as unknown as Upload).photos;

it('files in memory, where they are by default, are buffers', async () => {
  const { dto: bound } = await bind(Upload, { multipart: FILES }, inMemory);
  expect(bound?.photos.map(({ buffer }) => buffer.toString())).toEqual(['first', 'second']);
});

it('files on disk are there while the handler runs, in a folder of the user alone, and gone after the response', async () => {
  const seen = await during(onDisk, req => [
    ...filesOf(req).map(({ path }) => [path.startsWith(stored.path), readFileSync(path, 'utf8')]),
    ...new Set(filesOf(req).map(({ path }) => statSync(dirname(path)).mode & 0o777)),
  ]);
  expect(seen).toEqual([[true, 'first'], [true, 'second'], 0o700]);
});

it('a file that the handler has moved is its own', async () => {
  const kept = `${stored.path}-kept`;
  await during(onDisk, req => renameSync(filesOf(req)[0]?.path ?? '', kept));
  await stored.emptied();
  expect(readFileSync(kept, 'utf8')).toBe('first');
  rmSync(kept);
});

it('a file under a name that is not declared is not kept, in memory, on disk or by an own Multer', async () => {
  const sent = [...FILES, photo('third', 'other'), photo('fourth', 'other.photos')];
  const texts = ({ files }: express.Request) => (files as Express.Multer.File[]).map(({ buffer }) => buffer.toString());
  const there = (directory: TemporaryDirectory) => () => directory.files.map(path => readFileSync(path, 'utf8')).sort();
  expect(await during(inMemory, texts, sent)).toEqual(['first', 'second']);
  expect(await during(onDisk, there(stored), sent)).toEqual(['first', 'second']);
  expect(await during(inOwn(), there(own), sent)).toEqual(['first', 'second']);
});

describe('files on disk are gone when a client is refused', () => {
  const named = (...parts: [string, string][]): Sent => ({ multipart: [photo('first'), ...parts] });
  it.each<[string, Sent, BindingOptions['limits'], number]>([
    ['a wrong value', named(['count', 'x']), {}, 400],
    ['no closing boundary', raw(part('title', 't') + rawPhoto('first') + rawPhoto('second')), {}, 400],
    ['a file cut off half-way', raw(rawPhoto('first') + rawPhoto('second').slice(0, -5)), {}, 400],
    ['a broken part after a file', raw(`${rawPhoto('first')}--x\r\nfoo\r\n\r\n--x--\r\n`), {}, 400],
    [
      'a part without a name',
      raw(`${rawPhoto('1')}${NAMELESS}--x--
`),
      {},
      400,
    ],
    ['a file that is too large', { multipart: FILES }, { fileBytes: 5 }, 413],
    ['too many files', { multipart: FILES }, { files: 1 }, 413],
    ['too many fields', named(['title', 't'], ['a', 'b']), { fields: 1 }, 413],
    ['a field that is too large', named(['title', 'x'.repeat(11)]), { fieldBytes: 10 }, 413],
  ])('%s', async (_what, sent, limits, expected) => {
    const { status, problem } = await bind(Upload, sent, { ...onDisk, ...(limits && { limits }) });
    expect([status, problem?.status]).toEqual([expected, expected]);
    expect(stored.files).toEqual([]);
  });

  it('an error in the handler', async () => {
    await during(onDisk, fails);
    await stored.emptied();
  });
});

describe('files on disk are gone when the client hangs up', () => {
  it('while it sends', async () => {
    const ran = jest.fn();
    const { port } = await serve(express().post('/', bindRequest(Upload, onDisk), ran));
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n' +
        `${part('title', 't')}${rawPhoto('first')}${rawPhoto('half').slice(0, -4)}`,
    );
    await stored.filled();
    socket.destroy();
    await stored.emptied();
    expect(ran).not.toHaveBeenCalled();
  });

  it.each([
    ['while the handler runs', ''],
    ['while an earlier response of its connection is pending', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s', async (_when, before) => {
    const running = signal();
    const app = express().get('/', () => undefined);
    app.post('/', bindRequest(Upload, onDisk), () => running.happens());
    const { body = '', headers = {} } = await toWire({ multipart: FILES });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    const socket = connect((await serve(app)).port, '127.0.0.1');
    socket.write(`${before}POST / HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    socket.write(body);
    await running.happened;
    expect(stored.files).toHaveLength(2);
    socket.destroy();
    await stored.emptied();
  });
});

describe("a Multer of the application's own", () => {
  it.each<[string, multer.Options['limits'], BindingOptions['limits'], number]>([
    ['its own', { fileSize: 10 }, { fileBytes: 1_000 }, 413],
    ['that of bindRequest', { fileSize: 1_000 }, { fileBytes: 10 }, 413],
    ['neither', { fileSize: 1_000 }, { fileBytes: 1_000 }, 200],
  ])('has the stricter of two limits: %s is exceeded', async (_whose, theirs, limits, expected) => {
    const options = { ...inOwn({ limits: theirs ?? {} }), ...(limits && { limits }) };
    expect((await bind(Upload, { multipart: [photo('x'.repeat(11))] }, options)).status).toBe(expected);
    if (expected === 413) await own.emptied();
  });

  const refusals: readonly [string, BindingOptions, Sent['multipart'], number][] = [
    ['a value is not valid', {}, [photo('1'), ['count', 'x']], 400],
    ['a file stands for a text', {}, [['title', 'a'], photo('1', 'photos[0]'), photo('2', 'Count')], 400],
    [
      'a modifier finds a failure',
      { modifier: (_dto, _Dto, context) => context.fail('title', 'No.') },
      [photo('1')],
      400,
    ],
    ['a modifier throws', { modifier: fails }, [photo('1')], 500],
    ['a modifier rejects', { modifier: () => Promise.reject(new Error('no')) }, [photo('1')], 500],
  ];
  const rows = expressVersions.flatMap(([name, framework]) =>
    refusals.map(row => [row[0], name, framework, row] as const),
  );

  it.each(rows)('keeps no file of a request that is refused because %s: %s', async (_what, _name, framework, row) => {
    const [, options, sent = [], expected] = row;
    expect((await bind(Upload, { multipart: sent }, { framework, ...inOwn(), ...options })).status).toBe(expected);
    await own.emptied();
  });

  it.each<[string, BindingOptions]>([
    ['that succeeds', {}],
    ['whose modifier looks at it', { modifier: () => undefined }],
  ])('keeps the files of a request %s, even if its handler fails', async (_which, options) => {
    await during({ ...inOwn(), ...options }, fails, [photo('1')]);
    expect(own.files).toHaveLength(1);
  });

  it('its filter counts, and sees the request', async () => {
    const fileFilter: multer.Options['fileFilter'] = (req, { originalname }, done) =>
      done(null, originalname === req.params['wanted']);
    const sent = { multipart: [photo('1'), ['photos', new File(['2'], 'b.png')]] as const, path: '/b.png' };
    const { dto: bound } = await bind(Upload, sent, { route: '/:wanted', ...multipartOf(multer({ fileFilter })) });
    expect(bound?.photos.map(({ originalname }) => originalname)).toEqual(['b.png']);
  });

  const storing = (done: unknown, remove: multer.StorageEngine['_removeFile'] = (_req, _file, then) => then(null)) =>
    multipartOf(
      multer({
        storage: {
          _handleFile: (_req, { stream }, then) => void stream.resume().on('end', () => then(done, { size: 1 })),
          _removeFile: remove,
        },
      }),
    );

  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const unwanted = Object.assign(new Error('only images'), { status: 422, expose: true });
  const refusing = multipartOf(multer({ fileFilter: (_req, _file, done) => done(unwanted) }));

  it.each<[string, BindingOptions, text: string]>([
    ['its filter', refusing, 'only images'],
    ['its storage, with an Error', storing(new Error('the bucket is gone')), 'the bucket is gone'],
    ['its storage, with an error of the system', storing(full), 'no space'],
    ['its storage, with a text', storing('the bucket is gone'), 'the bucket is gone'],
  ])(
    "an error of %s is the application's, and nothing half-bound reaches the handler",
    async (_what, options, text) => {
      const { status, response, dto: bound } = await bind(Upload, { multipart: FILES }, options);
      expect([status, response.text, bound]).toEqual([500, text, undefined]);
    },
  );

  it.each<[string, multer.StorageEngine['_removeFile'], Sent['multipart'], BindingOptions['limits'], number]>([
    ['says that it cannot', (_req, _file, done) => done(new Error('gone')), [photo('1'), ['count', 'x']], {}, 400],
    ['throws', fails, [photo('1'), ['count', 'x']], {}, 400],
    ['is slow', () => undefined, [photo('1'), photo('2')], { files: 1 }, 413],
  ])(
    'that is asked to remove a file and %s does not keep the client waiting',
    async (...[, remove, sent = [], limits = {}, expected]) => {
      expect((await bind(Upload, { multipart: sent }, { ...storing(null, remove), limits })).status).toBe(expected);
    },
  );
});

describe('limits.formBytes', () => {
  const storages: readonly [string, BindingOptions][] = [
    ['memory', inMemory],
    ['disk', onDisk],
    ["a Multer of the application's own", multipartOf(multer())],
  ];

  it.each(storages)('bounds all of a form, its files included, however it is sent: %s', async (_where, options) => {
    const { headers = {}, body = '' } = await toWire({ multipart: FILES });
    for (const how of [{}, { 'Transfer-Encoding': 'chunked' }] as Record<string, string>[])
      for (const [formBytes, expected, type] of [
        [body.length, 200, undefined],
        [body.length - 1, 413, 'urn:bindonce:body-too-large'],
      ] as const) {
        const sent = { body, headers: { 'Content-Type': String(headers['Content-Type']), ...how } };
        const { status, problem } = await bind(Upload, sent, { ...options, limits: { formBytes } });
        expect([how, status, problem?.type]).toEqual([how, expected, type]);
      }
  });

  it.each(storages)('a form that says that it is larger is refused before it is sent: %s', async (_where, options) => {
    const app = express().post('/', bindRequest(Upload, { ...options, limits: { formBytes: 1_000 } }));
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': '1001' };
    const upload = request((await serve(app)).url, { method: 'POST', agent: false, headers });
    upload.on('error', () => undefined).flushHeaders();
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    upload.destroy();
  });
});

/** Multer drops a file without a name; HTTP clients of Java send such files. */
describe.each<[string, () => RequestHandler[], BindingOptions]>([
  ['in memory', () => [], inMemory],
  ['on disk', () => [], onDisk],
  ['in memory, behind idempotency()', () => [idempotency({ store: new Keyv() })], inMemory],
  ['on disk, behind idempotency()', () => [idempotency({ store: new Keyv() })], onDisk],
])('a part without a file name, %s,', (_way, before, options) => {
  const scan = { title: string, scan: optional(file), photos: optional(list(file)), note: optional(string) };
  class Claim extends dto(scan) {}
  class Whole extends dto({ claim: fromForm(Claim) }) {}
  class Loose extends dto({ claim: fromForm(z.object({ title: z.string() })) }) {}
  const [type, big] = ['application/octet-stream', 'x'.repeat(2_000_000)];
  const post = (Dto: AnyType, ...parts: Part[]) =>
    bind<AnyType>(
      Dto,
      { key: 'k', ...multipart([{ name: 'title', value: 't' }, ...parts], 'b1') },
      { before: before(), ...options },
    );

  it.each<[string, Part]>([
    ['without a file name', { name: 'scan', type, value: 'x' }],
    ['in another case', { name: 'SCAN', type, value: 'x' }],
    ['of 2 MB', { name: 'scan', type, value: big }],
    ['with an empty file name', { name: 'scan', filename: '', type, value: 'x' }],
    ['with an empty file name and 2 MB', { name: 'scan', filename: '', type, value: big }],
    ['whose file name is that of a folder', { name: 'scan', filename: 'a/', type: 'image/png', value: 'x' }],
    ['whose file name is two dots', { name: 'scan', filename: '..', type: 'application/json', value: '{}' }],
    ['of a list', { name: 'photos[0]', type, value: 'x' }],
    ['that is text', { name: 'note', type, value: 'x' }],
  ])('is refused, not lost: one %s', async (_what, sent) => {
    const photos: Part = { name: 'photos', filename: 'a.png', value: 'x' };
    for (const Dto of [Claim, Whole, Loose])
      expect((await post(Dto, photos, sent, photos)).problem).toMatchObject({
        ...{ status: 400, type: 'urn:bindonce:body-malformed' },
        detail:
          `In the multipart form, the part "${sent.name}" has content and no file name. With a file, send ` +
          'filename="…"; send text without the type application/octet-stream.',
      });
  });

  it.each<[string, Part]>([
    ['under a name that is not declared', { name: 'other', type, value: 'x' }],
    ['of 2 MB under a name that is not declared', { name: 'other', type, value: big }],
    ['without content', { name: 'scan', type, value: '' }],
    ['without content, with an empty file name', { name: 'scan', filename: '', type, value: '' }],
  ])('is ignored %s', async (_what, sent) => {
    expect((await post(Claim, sent)).dto).toEqual({ title: 't' });
    expect((await post(Whole, sent)).dto).toEqual({ claim: { title: 't' } });
  });
});
