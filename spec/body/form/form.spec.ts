import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../../../lib';
import { readForm, type Form, type FormOptions } from '../../../lib/body/form/form';
import type { PartsTaken } from '../../../lib/body/form/parts';
import { allFiles, multipart, type Part } from '../../support/multipart';

function read(parts: readonly Part[], settings: Partial<FormOptions> = {}): Promise<Form> {
  const { body, headers } = multipart(parts, 'b1');
  return readRaw(body, headers['Content-Type'], settings);
}

function readRaw(body: Buffer | string, type: string, settings: Partial<FormOptions> = {}): Promise<Form> {
  const req = { headers: { 'content-type': type, 'content-length': String(body.length) } } as IncomingMessage;
  return readForm(Readable.from([Buffer.from(body)]), req, {
    storage: multer.memoryStorage(),
    limits: {},
    parts: allFiles,
    ...settings,
  });
}

const filesAndJson: PartsTaken = { takesFile: () => true, takesJson: () => true };

function diskFull(): never {
  throw new Error('disk full');
}

const MULTIPART = 'multipart/form-data';
const field = (name: string, value = '1'): Part => ({ name, value });
const file = (name: string, filename = 'f', value = 'x'): Part => ({ name, filename, value });

describe('a multipart form', () => {
  it('is its fields as flat pairs in the order they were sent', async () => {
    const parts = 'b a[0][x] a[] a.b b __proto__ constructor ü'.split(' ').map((name, at) => field(name, `${at}é`));
    expect((await read(parts)).fields).toEqual(parts.map(({ name, value }) => [name, value]));
  });

  it('is its files as multer describes them', async () => {
    const { files } = await read([file('a[0]', 'ä b.txt', 'xyz'), { ...file('b'), type: 'image/png' }]);
    expect(files).toMatchObject([
      { fieldname: 'a[0]', originalname: 'ä b.txt', mimetype: 'text/plain', buffer: Buffer.from('xyz') },
      { fieldname: 'b', originalname: 'f', mimetype: 'image/png', buffer: Buffer.from('x') },
    ]);
  });

  it('has the names that browsers escape as they were, for fields as for files', async () => {
    const { fields, files } = await read([field('a%22b'), file('a%22b', 'c%0D%0Ad.txt')]);
    expect(fields).toEqual([['a"b', '1']]);
    expect(files).toMatchObject([{ fieldname: 'a"b', originalname: 'c\r\nd.txt' }]);
  });

  const json: Part = { ...file('a', 'blob', '{"a":1}'), type: 'application/json' };
  const three = [field('a', 'xx'), field('b', 'xx'), file('f')];
  it.each<[Part[], Partial<FormOptions>, string]>([
    [[file('f', 'f', 'xx')], { limits: { fileSize: 1 } }, 'The file "f" is larger than 1 bytes.'],
    [[file('f'), file('g')], { limits: { files: 1 } }, 'The form has more than 1 files.'],
    [[field('a'), field('b')], { limits: { fields: 1 } }, 'The form has more than 1 fields.'],
    [[field('notes', 'xx')], { limits: { fieldSize: 1 } }, 'The field "notes" is larger than 1 bytes.'],
    [[json], { limits: { fieldSize: 6 } }, 'The field "a" is larger than 6 bytes.'],
    [[field('abc')], { limits: { fieldNameSize: 2 } }, 'A name in the form is longer than 2 characters.'],
    [[file('abc')], { limits: { fieldNameSize: 2 } }, 'A name in the form is longer than 2 characters.'],
    [three, { limits: { parts: 2 } }, 'The form has more than 2 fields and files together.'],
    [three, { fieldsBytes: 5 }, 'The fields of the form are together larger than 5 bytes.'],
  ])('%j that exceeds %j is refused with 413 that names the limit', async (parts, settings, message) => {
    const refusal = { name: 'Problem', status: 413, code: 'body-too-large', message };
    await expect(read(parts, { parts: filesAndJson, ...settings })).rejects.toMatchObject(refusal);
  });

  it('has a part without a name refused with 400', async () => {
    const body = '--b1\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b1--\r\n';
    await expect(readRaw(body, 'multipart/form-data; boundary=b1')).rejects.toMatchObject({
      status: 400,
      message: 'The multipart form is malformed: Field name missing.',
    });
  });

  const part = 'Content-Disposition: form-data; name="a"\r\n\r\n1\r\n';
  it.each<[string, string, string?]>([
    ['without a boundary', '--b1--', MULTIPART],
    ['without an end', `--b1\r\n${part}`],
    ['with a file that has no end', '--b1\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nxxxx'],
    ['with a part whose head has no end', '--b1\r\nContent-Disposition: form-data; name="a"\r\n--b1--\r\n'],
    ['of another boundary', `--b2\r\n${part}--b2--\r\n`],
    ['with blanks behind its boundaries, of which busboy reads no part', `--b1 \r\n${part}--b1--\r\n`],
    ['that is none', 'nothing like it'],
    ['with a boundary that multer does not read', `--b\t1\r\n${part}--b\t1--\r\n`, `${MULTIPART}; boundary="b\t1"`],
  ])('%s is refused with 400', async (_title, body, type = `${MULTIPART}; boundary=b1`) => {
    await expect(readRaw(body, type)).rejects.toMatchObject({ name: 'Problem', status: 400, code: 'body-malformed' });
  });

  const refuses: multer.StorageEngine = {
    _handleFile: (_req, { stream }, done) => {
      stream.resume();
      done(Object.assign(new Error('disk full'), { code: 'ENOSPC' }));
    },
    _removeFile: (_req, _file, done) => done(null),
  };
  it.each<[string, Partial<FormOptions>]>([
    ['storage', { storage: refuses }],
    ['filter', { fileFilter: (_req, _file, done) => done(new Error('disk full')) }],
    ['storage that throws', { storage: { _handleFile: diskFull, _removeFile: diskFull } }],
    ['filter that throws', { fileFilter: diskFull }],
    ['filter that rejects', { fileFilter: async () => Promise.resolve().then(diskFull) }],
  ])("whose %s fails is not the client's fault", async (_title, settings) => {
    const failure: unknown = await read([file('f')], settings).catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ message: 'disk full' });
  });
});
