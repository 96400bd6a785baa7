import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import multer from 'multer';
import { filesApart, together } from '../../../lib/body/spool/files-apart';
import type { Form, FormOptions } from '../../../lib/body/form/form';
import { filesAndJson } from '../../../lib/body/form/parts-taken';
import { readForm } from '../../../lib/body/form/read-form';
import { BytesInMemory, openReceived, type ReceivedBytes } from '../../../lib/body/stream/received';
import { measureForm, readReceivedForm } from '../../../lib/body/form/received-form';
import { Spool } from '../../../lib/body/spool/spool';
import { Problem } from '../../../lib/problems/problem';
import { allFiles, multipart, type Part } from '../../support/multipart';

const req = { headers: { 'content-type': 'multipart/form-data; boundary=b1' } } as IncomingMessage;

const inMemory = (bytes: Buffer): ReceivedBytes => new BytesInMemory([bytes], undefined);

async function onDisk(bytes: Buffer): Promise<Extract<ReceivedBytes, { kind: 'file' }>> {
  return { kind: 'file', spool: await Spool.of(together(Readable.from([bytes]))), coding: undefined };
}

/** A form that arrived in blocks of so many bytes, and whose long files are apart. */
async function inBlocks(bytes: Buffer, length: number): Promise<Extract<ReceivedBytes, { kind: 'file' }>> {
  const blocks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) => [
    bytes.subarray(index * length, (index + 1) * length),
  ]);
  return { kind: 'file', spool: await Spool.of(filesApart(Readable.from(blocks), 'b1')), coding: undefined };
}

/** What a form was read as, or that it was refused. */
type Outcome = { fields: Form['fields']; files: object[] } | 'refused';

async function outcomeOf(reading: Promise<Form>): Promise<Outcome> {
  try {
    const { fields, files } = await reading;
    return { fields, files: files.map(stored => ({ ...stored })) };
  } catch (error) {
    if (error instanceof Problem) return 'refused';
    throw error;
  }
}

const optionsWith = (options: Partial<FormOptions> = {}): FormOptions => ({
  storage: multer.memoryStorage(),
  limits: {},
  parts: allFiles,
  ...options,
});

/** Returns what is read from a form that was measured and then spoiled: it can be read, but not parsed. */
async function readUnparsed(parts: readonly Part[], options: Partial<FormOptions> = {}): Promise<Outcome> {
  const received = inMemory(multipart(parts, 'b1').body);
  await measureForm(received, req);
  if (received.kind === 'bytes') received.bytes[received.bytes.length - 3] = 0x21;
  return outcomeOf(readReceivedForm(received, req, optionsWith(options)));
}

const file = (name: string, value: string, filename = 'f'): Part => ({ name, filename, value });
const BIG = 'x'.repeat(1_000_000);

const texts = (...fragments: string[]): fc.Arbitrary<Buffer> =>
  fc.array(fc.constantFrom(...fragments), { maxLength: 6 }).map(all => Buffer.from(all.join(''), 'latin1'));

const contents = texts('', 'x', '1234567890', '\r\n', '\r\n--', '\r\n--b', '--b1', '-', '\xff', '\xc3\xa9', '{"a":1}');

const heads = fc
  .tuple(
    fc.constantFrom('form-data', 'form-data', 'form-data', 'form-data', 'attachment'),
    fc.constantFrom('; name="a"', '; name="b[0]"', '; name="\xc3\xbc"', '; name="x%22y"', '; name=json', ''),
    fc.constantFrom(
      '',
      '',
      '; filename="f.txt"',
      '; filename="\xc3\xa4.txt"',
      '; filename="C:\\\\in\\\\f.txt"',
      '; filename="in/f.txt"',
      '; filename="../.."',
      '; filename=""',
      "; filename*=utf-8''%e2%82%ac.txt",
    ),
    fc.constantFrom(
      '',
      '\r\nContent-Type: image/png',
      '\r\nContent-Type: application/octet-stream',
      '\r\nContent-Type: application/json',
      '\r\nContent-Type: text/plain; charset=latin1',
      '\r\nContent-Type: text/plain; charset=utf-16le',
    ),
  )
  .map(([kind, name, filename, type]) => `Content-Disposition: ${kind}${name}${filename}${type}\r\n\r\n`);

const forms = fc
  .tuple(
    fc.constantFrom('', '', 'preamble\r\n', '\r\n'),
    fc.array(fc.tuple(fc.constantFrom('', '', ' \t'), heads, contents), { maxLength: 5 }),
    fc.constantFrom('', '\r\n', '\r\nepilogue'),
  )
  .map(([preamble, parts, epilogue]) =>
    Buffer.concat([
      Buffer.from(preamble),
      ...parts.flatMap(([blanks, head, content]) => [
        Buffer.from(`--b1${blanks}\r\n${head}`, 'latin1'),
        content,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`--b1--${epilogue}`),
    ]),
  );

const limit = fc.constantFrom(undefined, 0, 1, 2, 10);

const settings: fc.Arbitrary<Partial<FormOptions>> = fc.record(
  {
    limits: fc.record(
      { fields: limit, files: limit, parts: limit, fieldSize: limit, fileSize: limit, fieldNameSize: limit },
      { requiredKeys: [] },
    ) as fc.Arbitrary<FormOptions['limits']>,
    parts: fc.constantFrom(allFiles, filesAndJson, { takesFile: name => name === 'a', takesJson: () => false }),
    fieldsBytes: fc.constantFrom(5, 50),
    formBytes: fc.constantFrom(100, 500),
    preservePath: fc.boolean(),
    defParamCharset: fc.constantFrom('utf8', 'latin1'),
  },
  { requiredKeys: [] },
);

describe('a form that was measured', () => {
  it.each<[string, (bytes: Buffer) => Promise<ReceivedBytes>]>([
    ['in memory', bytes => Promise.resolve(inMemory(bytes))],
    ['on disk', onDisk],
  ])('is read as the parser reads it: any form %s, with any limits', async (_where, receive) => {
    await fc.assert(
      fc.asyncProperty(forms, settings, async (bytes, given) => {
        const received = await receive(bytes);
        const options = optionsWith(given);
        const parsed = await outcomeOf(readForm(openReceived(received), req, options));
        await measureForm(received, req).catch(() => undefined);
        expect(await outcomeOf(readReceivedForm(received, req, options))).toEqual(parsed);
        if (received.kind === 'file') await received.spool.close();
      }),
      { numRuns: 300 },
    );
  });

  it('is measured and read as the parser does it, if it arrives in blocks of any length, and its files are set apart', async () => {
    let apart = 0;
    await fc.assert(
      fc.asyncProperty(forms, settings, fc.integer({ min: 1, max: 80 }), async (bytes, given, length) => {
        const received = await inBlocks(bytes, length);
        const { spool } = received;
        apart += spool.apart.length;
        expect(await buffer(spool.chunks())).toEqual(bytes);
        const options = optionsWith(given);
        const parsed = await outcomeOf(readForm(openReceived(received), req, options));
        expect(await outcomeOf(measureForm(received, req))).toEqual(await outcomeOf(measureForm(inMemory(bytes), req)));
        expect(await outcomeOf(readReceivedForm(received, req, options))).toEqual(parsed);
        await spool.close();
      }),
      { numRuns: 1_000 },
    );
    expect(apart).toBeGreaterThan(100);
  });

  it.each<[string, Part[], Partial<FormOptions>]>([
    ['with fields', [{ name: 'a', value: '1' }], {}],
    ['with files', [{ name: 'f', filename: 'ä.txt', value: 'x\r\n--b\r\n' }], {}],
    ['with an empty file', [{ name: 'f', filename: 'f', value: '' }], {}],
    ['with JSON that is sent as a file', [{ name: 'a', filename: 'blob', type: 'application/json', value: '{}' }], {}],
    ['with neither', [], {}],
    [
      'that is as large as the limits',
      [{ name: 'f', filename: 'f', value: 'xx' }],
      { limits: { fileSize: 2, files: 1 } },
    ],
    ['whose files have folders that are kept', [{ name: 'f', filename: 'in/f', value: 'x' }], { preservePath: true }],
    [
      'for a Multer with its own default charset',
      [{ name: 'f', filename: 'f', value: 'x' }],
      { defParamCharset: 'latin1' },
    ],
  ])('%s is not parsed again', async (_what, parts, options) => {
    const { body } = multipart(parts, 'b1');
    const parsed = await outcomeOf(readForm(openReceived(inMemory(body)), req, optionsWith(options)));
    expect(parsed).not.toBe('refused');
    expect(await readUnparsed(parts, options)).toEqual(parsed);
  });

  it.each<[string, Part, Partial<FormOptions>]>([
    ['a file may be too long', { name: 'f', filename: 'f', value: 'xx' }, { limits: { fileSize: 1 } }],
    ['a field may be too long', { name: 'a', value: 'xx' }, { limits: { fieldSize: 1 } }],
    ['folders of a file are dropped', { name: 'f', filename: 'in/f', value: 'x' }, {}],
    ['names have another charset', { name: 'f', filename: 'ä', value: 'x' }, { defParamCharset: 'latin1' }],
    ['it has too many parts to remember', { name: 'a', value: '' }, {}],
    ['too many of its heads are long', { name: 'a', value: '', type: `text/${'x'.repeat(10_000)}` }, {}],
  ])('is parsed again if %s', async (why, part, options) => {
    const parts = Array.from({ length: why.includes('too many') ? 1_000 : 1 }, () => part);
    expect(await readUnparsed(parts, options)).toBe('refused');
  });

  it('gives a storage small files before it has read the ones before them, as the parser does', async () => {
    const received = inMemory(multipart([file('a', 'x'), file('b', 'y')], 'b1').body);
    await measureForm(received, req);
    const waiting: (() => void)[] = [];
    const { files } = await readReceivedForm(
      received,
      req,
      optionsWith({
        fileFilter: (_req, _file, decide) => {
          waiting.push(() => {
            decide(null, true);
          });
          if (waiting.length === 2) for (const decideNow of waiting) decideNow();
        },
      }),
    );
    expect(files.map(({ buffer }) => buffer.toString())).toEqual(['x', 'y']);
  });

  it('is refused if the process cannot hold as many bytes as it has', async () => {
    const { body } = multipart([{ name: 'a', value: '1' }], 'b1');
    const received = inMemory(body);
    await measureForm(received, req);
    const take = jest.fn(() => {
      throw new Error('too much');
    });
    await expect(readReceivedForm(received, req, optionsWith({ take }))).rejects.toThrow('too much');
    expect(take).toHaveBeenCalledWith(body.length);
  });

  it.each<[string, Part[], number]>([
    ['fields', Array.from({ length: 9 }, (_, index) => ({ name: `f${index}`, value: 'x'.repeat(100_000) })), 900_000],
    ['short fields', Array.from({ length: 5_000 }, () => ({ name: 'a', value: '' })), 1_000_000],
    ['long names', Array.from({ length: 900 }, () => ({ name: 'n'.repeat(1_000), value: '' })), 900_000],
    ['JSON that is sent as files', [{ name: 'a', filename: 'f', type: 'application/json', value: BIG }], 1_000_000],
    ['names of files', Array.from({ length: 90 }, () => file('a', '', 'f'.repeat(10_000))), 900_000],
  ])('tells, while it is measured, the memory that it takes: %s', async (_what, parts, bytes) => {
    let taken = 0;
    await measureForm(inMemory(multipart(parts, 'b1').body), req, more => (taken += more));
    expect(taken).toBeGreaterThanOrEqual(bytes);
    expect(taken).toBeLessThan(1.5 * bytes);
  });

  it('is measured also if a file in it has no name, for which it is refused when it is read', async () => {
    const nameless: Part = { name: 'a', type: 'application/octet-stream', value: 'x' };
    const received = inMemory(multipart([nameless], 'b1').body);
    expect(await measureForm(received, req)).toEqual({ fields: [], files: [], hasOtherContent: true });
    await expect(readReceivedForm(received, req, optionsWith({}))).rejects.toThrow('has content and no file name');
  });

  it('takes no memory for the content of files while it is measured', async () => {
    let taken = 0;
    await measureForm(inMemory(multipart([file('a', BIG)], 'b1').body), req, more => (taken += more));
    expect(taken).toBeLessThan(1_000);
  });

  it.each<[string, Part]>([
    ['a field', { name: 'a', value: '1' }],
    ['a file', file('a', 'x')],
    ['JSON that is sent as a file', { name: 'a', filename: 'f', type: 'application/json', value: '{}' }],
  ])('is refused if the process has no memory to measure it: %s', async (_what, part) => {
    const take = (): never => {
      throw new Problem('server-busy', 'too much');
    };
    await expect(measureForm(inMemory(multipart([part], 'b1').body), req, take)).rejects.toThrow('too much');
  });

  it('gives a storage bytes that it may change', async () => {
    const { body } = multipart([{ name: 'f', filename: 'f', value: 'secret' }], 'b1');
    const received = inMemory(Buffer.from(body));
    await measureForm(received, req);
    await readReceivedForm(
      received,
      req,
      optionsWith({
        storage: {
          _handleFile: (_req, { stream }, done) => {
            stream
              .on('data', (chunk: Buffer) => chunk.fill(0))
              .on('end', () => {
                done(null, {});
              });
          },
          _removeFile: (_req, _file, done) => {
            done(null);
          },
        },
      }),
    );
    expect(received).toMatchObject({ bytes: body });
  });
});
