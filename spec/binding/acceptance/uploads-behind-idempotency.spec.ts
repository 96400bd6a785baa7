import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import { bindRequest, dto, file, idempotency, int, list, string, type BindingOptions } from '../../../lib';
import { openFiles } from '../../support/open-files';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { expressVersions } from '../../support/express-versions';
import { ask, toWire, type Sent } from '../../support/ask';

class Upload extends dto({ title: string, photos: list(file), sizes: list(int) }) {}

const [stored, temporary, own] = [new TemporaryDirectory(), new TemporaryDirectory(), new TemporaryDirectory()];
// What is spooled goes to the temporary folder of the system; here that is one that nobody else uses.
beforeAll(() => {
  jest.spyOn(os, 'tmpdir').mockReturnValue(temporary.path);
});
afterEach(async () => {
  for (const path of own.files) rmSync(path);
  await Promise.all([stored.emptied(), temporary.emptied()]);
});
afterAll(() => {
  jest.restoreAllMocks();
  for (const directory of [stored, temporary, own]) directory.remove();
});

/** More than a megabyte is spooled to disk before it is bound. */
const bytes = (size: number, seed: number): Buffer<ArrayBuffer> =>
  Buffer.from(new Uint8Array(size).map((_, index) => (index * 31 + seed) % 251));
const SMALL = [bytes(20_000, 1), bytes(30_000, 2)] as const;
const LARGE = [bytes(1_200_000, 3), bytes(900_000, 4)] as const;
const uploadOf = (files: readonly Buffer<ArrayBuffer>[], size = '2'): Sent => ({
  key: 'k',
  multipart: [
    ['title', 'é'],
    ...files.map((content, index) => ['photos', new File([content], `${index}.png`)] as const),
    ['sizes[1]', size],
    ['sizes[0]', '1'],
  ],
});
const digest = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const photosOf = (files: readonly Buffer[]): unknown[] => files.map((content, at) => [`${at}.png`, digest(content)]);

function shop(uploads: BindingOptions['uploads'], before: readonly RequestHandler[] = []) {
  let runs = 0;
  const bound = bindRequest(Upload, { allowFormData: true, ...(uploads && { uploads }) });
  return express().post('/', ...before, idempotency({ store: new Keyv() }), bound, (req, res) => {
    const { title, sizes, photos } = req.dto;
    const contents = photos.map(({ originalname, buffer, path }) => [
      originalname,
      digest(path ? readFileSync(path) : buffer),
    ]);
    res.json({ run: ++runs, title, sizes, photos: contents });
  });
}

describe.each<[string, () => BindingOptions['uploads']]>([
  ['memory', () => ({ storage: 'memory' })],
  ['disk', () => ({ storage: 'disk', directory: stored.path })],
  ['a Multer of its own', () => multer({ storage: multer.diskStorage({ destination: own.path }) })],
  ['memory, multer before both', () => undefined],
])('files in %s', (storage, uploads) => {
  const before = storage.endsWith('before both') ? [multer().any()] : [];

  it.each([
    ['50 kB', SMALL],
    ['2 MB, spooled', LARGE],
  ])(
    'a form of %s that is not valid is refused and stores nothing; the corrected one arrives whole, and a retry with another boundary is a replay',
    async (_size, files) => {
      const app = shop(uploads(), before);
      for (let time = 0; time < 2; time++) expect((await ask(app, uploadOf(files, 'x'))).status).toBe(400);
      const [first, second] = [await ask(app, uploadOf(files)), await ask(app, uploadOf(files))];
      expect(first.body).toEqual({ run: 1, title: 'é', sizes: [1, 2], photos: photosOf(files) });
      expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    },
  );

  it('a form over 1 MiB that is cut off by its own boundary is refused, and leaves no file', async () => {
    const { body = '', headers } = await toWire(uploadOf(LARGE));
    const cut = Buffer.from(body).subarray(0, -10);
    const sent: Sent = { body: cut, headers: { ...headers, 'Content-Length': String(cut.length) } };
    if (before.length === 0) expect((await ask(shop(uploads()), sent)).status).toBe(400);
  });
});

it.each(expressVersions)(
  '%s: a spooled form is there while the handler runs, and gone after',
  async (_name, framework) => {
    let during: unknown;
    const uploads = { storage: 'disk', directory: stored.path } as const;
    const app = framework();
    app.post(
      '/',
      idempotency({ store: new Keyv() }),
      bindRequest(Upload, { allowFormData: true, uploads }),
      (_req, res) => {
        during = [stored.files.length, openFiles(temporary.path).map(path => path.slice(-10))];
        res.end();
      },
    );
    await ask(app, uploadOf(LARGE));
    expect(during).toEqual([2, [' (deleted)']]);
    await Promise.all([stored.emptied(), temporary.emptied()]);
  },
);
