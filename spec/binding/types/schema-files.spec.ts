import type { RequestHandler } from 'express';
import multer from 'multer';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, fromForm, type AnyType, type BindingOptions, type UploadedFile } from '../../../lib';
import { bind } from '../../support/one-endpoint';
import { TemporaryDirectory } from '../../support/temporary-directory';

const folder = new TemporaryDirectory();
afterAll(() => folder.remove());

const json = (value: unknown, name = 'blob'): File =>
  new File([typeof value === 'string' ? value : JSON.stringify(value)], name, { type: 'application/json' });

const Line = z.object({ sku: z.string() });
const Lines = z.object({ line: Line.optional(), lines: z.array(Line).optional() });
const ValibotLines = v.object({
  line: v.optional(v.object({ sku: v.string() })),
  lines: v.optional(v.array(v.object({ sku: v.string() }))),
});

const isFile = (sent: unknown): boolean => (sent as UploadedFile).originalname.endsWith('.json');
const name = (sent: unknown): string => (sent as UploadedFile).originalname;

const ways: readonly (readonly [string, { options?: BindingOptions; before?: readonly RequestHandler[] }])[] = [
  ['in memory', {}],
  ['on disk', { options: { uploads: { storage: 'disk', directory: folder.path } } }],
  ['that multer has left', { before: [multer().any()] }],
  ['that multer has left on disk', { before: [multer({ dest: folder.path }).any()] }],
];

describe.each(ways)('files of JSON in a form that a schema takes as a whole, %s', (_how, { options, before = [] }) => {
  const read = async (schema: AnyType, multipart: readonly (readonly [string, string | File])[]) => {
    const all = dto({ all: fromForm(schema) });
    const { status, dto: bound, errors } = await bind(all, { multipart }, { allowFormData: true, before, ...options });
    return status === 200 ? (bound as { all: unknown }).all : errors.map(one => `${one.name}: ${one.detail}`);
  };

  it.each([
    ['zod', Lines],
    ['valibot', ValibotLines],
  ])('are read as the objects that the schema expects: %s', async (_library, schema) => {
    const [a, b] = [{ sku: 'a' }, { sku: 'b' }];
    expect(
      await read(schema, [
        ['line', json(a)],
        ['lines', json([a, b])],
      ]),
    ).toEqual({ line: a, lines: [a, b] });
    expect(
      await read(schema, [
        ['lines', json(a)],
        ['lines', json(b)],
      ]),
    ).toEqual({ lines: [a, b] });
    expect(await read(schema, [['lines', json(a)]])).toEqual({ lines: [a] });
    expect(await read(schema, [['lines', json('{"sku":"a"},{"sku":"b"}')]])).toEqual({ lines: [a, b] });
    expect(
      await read(schema, [
        ['lines[1]', json(b)],
        ['lines[0]', json(a)],
      ]),
    ).toEqual({ lines: [a, b] });
  });

  it('are read where the schema would take any object, and drop what is in a file', async () => {
    const loose = z.object({ line: z.object({ sku: z.string().optional() }), more: z.record(z.string(), z.unknown()) });
    const sent = [
      ['line', json({ sku: 'a' })],
      ['more', json({ x: 1 })],
    ] as const;
    expect(await read(loose, sent)).toEqual({ line: { sku: 'a' }, more: { x: 1 } });
  });

  it.each<[string, AnyType, unknown]>([
    ['takes anything', z.object({ doc: z.any() }), { doc: expect.objectContaining({ originalname: 'a.json' }) }],
    ['tests that it is a file', z.object({ doc: z.custom(isFile).transform(name) }), { doc: 'a.json' }],
    ['takes its name', z.object({ doc: z.object({ originalname: z.string() }) }), { doc: { originalname: 'a.json' } }],
    ['takes several', z.object({ doc: z.array(z.custom(isFile).transform(name)) }), { doc: ['a.json'] }],
  ])('are files for a schema that %s', async (_what, schema, value) => {
    expect(await read(schema, [['doc', json({ sku: 'a' }, 'a.json')]])).toEqual(value);
    expect(await read(schema, [['doc', json('['.repeat(100_000), 'a.json')]])).toEqual(value);
  });

  it('may be data and a file in one form', async () => {
    const both = z.object({ line: Line, doc: z.custom(isFile).transform(name), tags: z.array(z.string()) });
    const sent = [
      ['line', json({ sku: 'a' })],
      ['doc', json({}, 'a.json')],
      ['tags', 'x,y'],
    ] as const;
    expect(await read(both, sent)).toEqual({ line: { sku: 'a' }, doc: 'a.json', tags: ['x', 'y'] });
  });

  it('have their issues in the JSON', async () => {
    const detail = 'Invalid input: expected string, received number';
    expect(await read(Lines, [['line', json({ sku: 1 })]])).toEqual([`line.sku: ${detail}`]);
    expect(await read(Lines, [['lines', json([{ sku: 'a' }, { sku: 1 }])]])).toEqual([`lines[1].sku: ${detail}`]);
    expect(await read(Lines, [['line', json('[['.repeat(100))]])).toEqual([expect.stringMatching(/^line: /)]);
    expect(await read(z.object({ doc: z.custom(isFile, 'no JSON file') }), [['doc', json({}, 'a.txt')]])).toEqual([
      'doc: no JSON file',
    ]);
  });

  it('are files if they are longer than JSON may be, or not UTF-8', async () => {
    const refused = [expect.stringMatching(/^line\.sku: /)];
    const long = { ...options, limits: { bodyBytes: 100 } };
    const all = dto({ all: fromForm(Lines) });
    const sent = { multipart: [['line', json({ sku: 'a'.repeat(100) })]] as const };
    expect((await bind(all, sent, { allowFormData: true, before, ...long })).errors).toMatchObject([
      { name: 'line.sku' },
    ]);
    const latin1 = new File([Buffer.from('{"sku":"é"}', 'latin1')], 'blob', { type: 'application/json' });
    expect(await read(Lines, [['line', latin1]])).toEqual(refused);
  });
});

it('names that look like a file of JSON are not one', async () => {
  const multipart = Object.entries({ fieldname: 'line', mimetype: 'application/json', path: __filename, size: '1' });
  const sent = multipart.map(([key, value]) => [`line.${key}`, value] as const);
  const { dto: bound } = await bind(
    dto({ all: fromForm(z.object({ line: z.record(z.string(), z.string()) })) }),
    { multipart: sent },
    { allowFormData: true },
  );
  expect(bound).toEqual({ all: { line: Object.fromEntries(multipart) } });
});
