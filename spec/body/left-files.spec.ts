import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { RequestHandler } from 'express';
import Keyv from 'keyv';
import { dto, file, formField, idempotency, list, optional, string } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { foreignParser, foreignParsers, union } from '../support/foreign-files';
import { bind } from '../support/one-endpoint';
import { TemporaryDirectory } from '../support/temporary-directory';

const directory = new TemporaryDirectory();

afterAll(() => {
  directory.remove();
});

class Upload extends dto({ title: formField(string), photos: list(file) }) {}
class Titled extends dto({ title: formField(string), photos: optional(string) }) {}
class One extends dto({ photo: file }) {}

const photos = {
  key: 'k',
  multipart: [
    ['title', 't'],
    ['photos', new File(['one'], 'a.png', { type: 'image/png' })],
    ['photos', new File(['three'], 'b.gif', { type: 'image/gif' })],
  ],
} as const;
const photo = { multipart: [['photo', new File(['one'], 'a.png')]] } as const;
const allowFormData = true;

/** Leaves what it is given as the files of a form. */
const leaving =
  (files: unknown, body: object = {}): RequestHandler =>
  (req, _res, next) => {
    req.resume().on('end', () => {
      Object.assign(req, { body, files });
      next();
    });
  };

describe.each(expressVersions)('%s', (_version, framework) => {
  const guards: readonly (readonly [string, () => readonly RequestHandler[]])[] = [
    ['', () => []],
    [', behind idempotency()', () => [idempotency({ store: new Keyv() })]],
  ];

  describe.each(guards)('files%s', (_where, guard) => {
    it.each(foreignParsers)("that $title has left are bound with multer's members", async parser => {
      const before = [foreignParser(parser, directory.path), ...guard()];
      const { dto: bound } = await bind(Upload, photos, { framework, before, allowFormData });
      expect(bound?.title).toBe('t');
      expect(bound?.photos).toMatchObject([
        { fieldname: 'photos', originalname: 'a.png', mimetype: 'image/png', size: 3, encoding: '7bit' },
        { fieldname: 'photos', originalname: 'b.gif', mimetype: 'image/gif', size: 5, encoding: '7bit' },
      ]);
      const contents = bound?.photos.map(({ buffer, path, destination, filename }) => {
        if (parser.storage === 'memory') return [buffer.toString(), path];
        expect([buffer, destination, filename]).toEqual([undefined, dirname(path), basename(path)]);
        return [readFileSync(path, 'utf8'), undefined];
      });
      expect(contents).toEqual([
        ['one', undefined],
        ['three', undefined],
      ]);
    });

    it('that are in the body, too, are files, and no fields', async () => {
      for (const parser of foreignParsers) {
        const before = [foreignParser(parser, directory.path), union, ...guard()];
        const { dto: bound } = await bind(Upload, photos, { framework, before, allowFormData, limits: { fields: 1 } });
        expect([bound?.title, bound?.photos.map(({ originalname }) => originalname)]).toEqual([
          't',
          ['a.png', 'b.gif'],
        ]);
      }
    });
  });
});

it('a file keeps what its parser has given it, and the object of the parser is as it was', async () => {
  const left = {
    name: 'a.png',
    size: 1,
    data: Buffer.from('a'),
    tempFilePath: '',
    mv: (to: string) => `moved to ${to}`,
  };
  const frozen = Object.freeze(left);
  const { dto: bound } = await bind(One, photo, { before: [leaving({ photo: frozen })], allowFormData });
  expect((bound?.photo as unknown as typeof left).mv('/photos')).toBe('moved to /photos');
  expect({ ...bound?.photo }).toEqual({
    fieldname: 'photo',
    originalname: 'a.png',
    encoding: '7bit',
    mimetype: 'text/plain',
    size: 1,
    buffer: Buffer.from('a'),
  });
  expect(Object.keys(left)).toEqual(['name', 'size', 'data', 'tempFilePath', 'mv']);
});

it('an empty file in memory has an empty buffer, and a file on disk has none', async () => {
  const empty = { name: 'a.png', size: 0, data: Buffer.alloc(0) };
  for (const [tempFilePath, content] of [
    ['', { buffer: Buffer.alloc(0), path: undefined }],
    ['/tmp/tmp-1', { buffer: undefined, path: '/tmp/tmp-1' }],
  ] as const) {
    const before = [leaving({ photo: { ...empty, tempFilePath } })];
    const { dto: bound } = await bind(One, photo, { before, allowFormData });
    expect([bound?.photo.buffer, bound?.photo.path]).toEqual([content.buffer, content.path]);
  }
});

it('the type of a file for which the client sent none is that of multer', async () => {
  for (const untyped of [{ mimetype: null }, { type: null }, {}, { fieldname: 'photo', originalname: 'a' }]) {
    const before = [leaving({ photo: { originalFilename: 'a', size: 1, filepath: '/tmp/1', ...untyped } })];
    expect((await bind(One, photo, { before, allowFormData })).dto?.photo.mimetype).toBe('text/plain');
  }
});

describe.each<[string, unknown]>([
  ['neither name nor size', { photo: { path: '/tmp/1' } }],
  ['no name', { photo: { originalFilename: null, size: 3, filepath: '/tmp/1' } }],
  ['no size', { photo: [{ name: 'a.png', data: Buffer.from('a') }] }],
  ['its path alone, as text,', { photo: '/tmp/1' }],
])('a file of which %s is left', (_what, files) => {
  it('is an error that says what to do, if the dto declares it', async () => {
    const { status, response } = await bind(One, photo, { before: [leaving(files)], allowFormData });
    expect([status, response.text]).toEqual([
      500,
      expect.stringMatching(/^bindonce: the files in req\.files have no name and size.*Mount bindonce before/),
    ]);
  });

  it('is nothing to a dto without it', async () => {
    const before = [leaving(files, { title: 't' })];
    expect((await bind(Titled, photo, { before, allowFormData })).dto).toEqual({ title: 't' });
  });
});
