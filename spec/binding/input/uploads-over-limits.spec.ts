import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import os from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { bindRequest, dto, file, idempotency, list, optional, string, type BindingOptions } from '../../../lib';
import { serve } from '../../support/serve';
import { openFiles } from '../../support/open-files';
import { chunk, LAST_CHUNK, RawClient } from '../../support/raw-client';
import { TemporaryDirectory } from '../../support/temporary-directory';

class Upload extends dto({ title: optional(list(string)), photos: list(file) }) {}

const stored = new TemporaryDirectory();
const own = new TemporaryDirectory();
const temporary = new TemporaryDirectory();
beforeAll(() => {
  jest.spyOn(os, 'tmpdir').mockReturnValue(temporary.path);
});
afterAll(() => {
  jest.restoreAllMocks();
  for (const directory of [stored, own, temporary]) directory.remove();
});

const storages: readonly [string, () => BindingOptions['uploads']][] = [
  ['memory', () => ({ storage: 'memory' })],
  ['disk', () => ({ storage: 'disk', directory: stored.path })],
  ["a Multer of the application's own", () => multer({ storage: multer.diskStorage({ destination: own.path }) })],
];

const field = (value: string, name = 'title'): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const open = (name = 'photos'): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\n\r\n`;
const photo = (value: string, name = 'photos'): string => `${open(name)}${value}\r\n`;
const KB50 = 'x'.repeat(50_000);
const REST = `\r\n${photo(KB50)}--x--\r\n`;

/** What a client has sent when it has exceeded the limit. */
const excesses: readonly [limit: string, where: string, limits: BindingOptions['limits'], body: string][] = [
  ['formBytes', 'in a file', { formBytes: 10_000 }, photo('a') + open() + KB50],
  ['formBytes', 'in a field', { formBytes: 10_000 }, photo('a') + field(KB50).slice(0, -2)],
  ['formBytes', 'between parts', { formBytes: 10_000 }, photo('a') + field('t').repeat(1_000)],
  ['fieldsBytes', 'after a file', { bodyBytes: 1_000 }, photo('a') + field('x'.repeat(600)).repeat(2) + open()],
  ['fields', 'after a file', { fields: 1 }, photo('a') + field('t').repeat(2) + open()],
  ['fieldBytes', 'after a file', { fieldBytes: 10 }, photo('a') + field('x'.repeat(100)) + open()],
  ['files', 'in the second file', { files: 1 }, photo('a') + open() + KB50],
  ['fileBytes', 'in the second file', { fileBytes: 1_000 }, photo('a') + open() + KB50],
  ["the length of a field's name", 'after a file', {}, photo('a') + field('t', 'n'.repeat(2_000)) + open()],
  ["the length of a file's name", 'after a file', {}, photo('a') + open('n'.repeat(2_000)) + KB50],
];
const framings = ['Content-Length', 'chunked'] as const;
type Framing = (typeof framings)[number];

const head = (framing: Framing, length: number, more = ''): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n${more}${framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n\r\n`;
const framed = (framing: Framing, body: string): string | Buffer => (framing === 'chunked' ? chunk(body) : body);

/** Waits until nothing of a refused form is left; the spec's time is the bound. */
async function nothingLeft(): Promise<void> {
  const left = (): number =>
    [stored, own, temporary].reduce((sum, { files, path }) => sum + files.length + openFiles(path).length, 0);
  while (left() > 0) await turn();
}

const rows = storages.flatMap(([storage, uploads]) =>
  framings.flatMap(framing =>
    excesses.map(([limit, where, limits, body]) => ({ storage, uploads, framing, limit, where, limits, body })),
  ),
);

describe('a form that exceeds a limit is answered at once, and nothing of it is left', () => {
  const clientOf = async ({ uploads, limits }: (typeof rows)[number], ...before: RequestHandler[]) => {
    const options: BindingOptions = { allowFormData: true, uploads: uploads(), ...(limits && { limits }) };
    const { port } = await serve(express().post('/', ...before, bindRequest(Upload, options) as RequestHandler));
    return new RawClient(port);
  };
  const expectRefused = async (client: RawClient): Promise<void> => {
    expect(await client.status(10_000)).toBe(413);
    await nothingLeft();
    client.leave();
  };

  it.each(rows)('$limit $where, $framing, files in $storage: the client sends no more', async row => {
    const { framing, limits, body } = row;
    const client = await clientOf(row);
    // A Content-Length that exceeds the limit of the whole form is refused before; here it does not say so.
    const isHonest = limits?.formBytes === undefined || framing === 'chunked';
    await client.send(head(framing, limits?.formBytes ?? body.length + REST.length));
    await client.send(framed(framing, isHonest ? body : body.slice(0, (limits.formBytes ?? 0) - 1)));
    if (isHonest) return expectRefused(client);
    client.leave();
    await nothingLeft();
  });

  it.each(rows)(
    '$limit $where, $framing, files in $storage: the client sends the rest, also behind idempotency()',
    async row => {
      const { framing, body } = row;
      const whole = body + REST;
      const parts = Array.from({ length: Math.ceil(whole.length / 20_000) }, (_, at) =>
        whole.slice(at * 20_000, (at + 1) * 20_000),
      );
      for (const before of [[], [idempotency({ store: new Keyv() }) as RequestHandler]]) {
        const client = await clientOf(row, ...before);
        await client.send(head(framing, whole.length, 'Idempotency-Key: k\r\n'));
        for (const part of parts) await client.send(framed(framing, part));
        if (framing === 'chunked') await client.send(LAST_CHUNK);
        await expectRefused(client);
      }
    },
  );
});
