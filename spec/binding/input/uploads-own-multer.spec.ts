import express, { type ErrorRequestHandler } from 'express';
import multer from 'multer';
import { rmSync } from 'node:fs';
import { bindRequest, dto, file, int, list, optional, string, type BindingOptions } from '../../../lib';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Upload extends dto({ title: optional(string), photos: list(file), count: optional(int) }) {}

const own = new TemporaryDirectory();
afterEach(() => {
  for (const path of own.files) rmSync(path);
});
afterAll(() => {
  own.remove();
});
const photo = (content = 'x'): readonly [string, File] => ['photos', new File([content], 'a.png')];
const onDisk = (limits?: multer.Options['limits']): BindingOptions => ({
  allowFormData: true,
  uploads: multer({ storage: multer.diskStorage({ destination: own.path }), ...(limits && { limits }) }),
});

describe("a Multer of the application's own", () => {
  it('stores no file that is not declared', async () => {
    const undeclared = Array.from({ length: 50 }, (_, index) => [`other${index}`, new File(['x'], 'a.png')] as const);
    const { status, dto: bound } = await bind(Upload, { multipart: [photo(), ...undeclared] }, onDisk());
    expect([status, bound?.photos.length, own.files.length]).toEqual([200, 1, 1]);
  });

  it.each<[string, multer.Options['limits'], BindingOptions['limits'], number]>([
    ['its own', { fileSize: 10 }, { fileBytes: 1_000 }, 413],
    ['that of bindRequest', { fileSize: 1_000 }, { fileBytes: 10 }, 413],
    ['neither', { fileSize: 1_000 }, { fileBytes: 1_000 }, 200],
  ])('has the stricter of two limits: %s is exceeded', async (_whose, theirs, limits, expected) => {
    const options = { ...onDisk(theirs), ...(limits && { limits }) };
    expect((await bind(Upload, { multipart: [photo('x'.repeat(11))] }, options)).status).toBe(expected);
    if (expected === 413) await own.emptied();
  });

  const fails = (): never => {
    throw new Error('no');
  };
  const refusals: readonly [string, BindingOptions, Sent['multipart'], number][] = [
    ['a value is not valid', {}, [photo(), ['count', 'x']], 400],
    [
      'a value is missing',
      {},
      [
        ['title', 'a'],
        ['photos[0]', photo()[1]],
        ['Count', photo()[1]],
      ],
      400,
    ],
    ['a modifier finds a failure', { modifier: (_dto, _Dto, context) => context.fail('title', 'No.') }, [photo()], 400],
    ['a modifier throws', { modifier: fails }, [photo()], 500],
    ['a modifier rejects', { modifier: () => Promise.reject(new Error('no')) }, [photo()], 500],
  ];

  it.each(
    expressVersions.flatMap(([name, framework]) =>
      refusals.map(([what, options, sent, status]) => ({ name, framework, what, options, sent, status })),
    ),
  )('keeps no file of a request that is refused because $what: $name', async one => {
    const { framework, options, sent = [] } = one;
    const { status } = await bind(Upload, { multipart: sent }, { framework, ...onDisk(), ...options });
    expect(status).toBe(one.status);
    await own.emptied();
  });

  it.each<[string, BindingOptions]>([
    ['that succeeds', {}],
    ['whose modifier looks at it', { modifier: () => undefined }],
  ])('keeps the files of a request %s, even if its handler fails', async (_which, options) => {
    const app = express().post('/', bindRequest(Upload, { ...onDisk(), ...options }), () => {
      throw new Error('no');
    });
    app.use(((error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end();
    }) as ErrorRequestHandler);
    expect((await ask(app, { multipart: [photo()] })).status).toBe(500);
    expect(own.files).toHaveLength(1);
  });

  it.each<[string, multer.StorageEngine['_removeFile'], BindingOptions['limits'], number]>([
    ['says that it cannot', (_req, _file, done) => done(new Error('gone')), {}, 400],
    [
      'throws',
      () => {
        throw new Error('gone');
      },
      {},
      400,
    ],
    ['is slow', () => undefined, { files: 1 }, 413],
  ])(
    'that is asked to remove a file and %s does not keep the client waiting',
    async (_what, remove, limits, status) => {
      const storage: multer.StorageEngine = {
        _handleFile: (_req, { stream }, done) => {
          stream.resume().on('end', () => done(null, { size: 1 }));
        },
        _removeFile: remove,
      };
      const options: BindingOptions = { allowFormData: true, uploads: multer({ storage }), ...(limits && { limits }) };
      const sent: Sent = { multipart: limits?.files ? [photo(), photo()] : [photo(), ['count', 'x']] };
      expect((await bind(Upload, sent, options)).status).toBe(status);
    },
  );
});
