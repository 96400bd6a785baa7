import { Readable } from 'node:stream';
import { filesApart, inBlocks } from '../../../lib/body/spool/files-apart';

/** A part of a form whose content is as given. */
const part = (disposition: string, content: string, boundary = '--b1'): string =>
  `${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;

const file = 'name="f"; filename="f"';

/** What is apart of a form that arrives in these blocks, what remains, and all of it. */
const split = (...blocks: string[]) =>
  piecesOf(Readable.from(blocks.map(block => [Buffer.from(block)])), blocks.join(''));

/** The same of one that arrives in these chunks. */
const splitChunks = (...chunks: string[]) =>
  piecesOf(inBlocks(Readable.from(chunks.map(chunk => Buffer.from(chunk)))), chunks.join(''));

async function piecesOf(
  blocks: AsyncIterable<readonly Buffer[]>,
  form: string,
): Promise<{ apart: string[]; rest: string }> {
  const apart: string[] = [];
  let [rest, all, wasApart] = ['', '', false];
  for await (const { bytes, isApart } of filesApart(blocks, 'b1')) {
    const text = bytes.toString();
    all += text;
    if (!isApart) rest += text;
    else if (wasApart) apart.push(`${apart.pop() ?? ''}${text}`);
    else apart.push(text);
    if (text !== '') wasApart = isApart;
  }
  expect(all).toBe(form);
  return { apart, rest };
}

const long = 'x'.repeat(100);

it('sets a file apart that does not arrive at once; the rest is a form in which it is empty', async () => {
  const [before, after] = [part('name="a"', '1'), `${part(file, 'short')}--b1--\r\n`];
  const { apart, rest } = await split(before, part(file, long).slice(0, -50), `${part(file, long).slice(-50)}${after}`);
  expect(apart).toEqual([long]);
  expect(rest).toBe(`${before}${part(file, '')}${after}`);
});

it('keeps files that arrive at once, and fields, with the rest', async () => {
  const field = part('name="a"', long);
  const { apart } = await split(`${part(file, long)}${field.slice(0, 80)}`, `${field.slice(80)}--b1--\r\n`);
  expect(apart).toEqual([]);
});

it('finds a boundary and a head wherever a chunk ends', async () => {
  const form = `preamble\r\n${part(file, long)}${part(file, long, '--b1 \t')}--b1--\r\n`;
  for (let at = 1; at < form.length; at++) {
    const { apart } = await split(form.slice(0, at), form.slice(at));
    expect(apart.every(content => content === long)).toBe(true);
  }
  expect(await split(...form)).toMatchObject({ apart: [long, long] });
});

it('does not take the end of a head and the beginning of its content for content', async () => {
  const form = `${part(file, `--b1${long}`)}--b1--\r\n`;
  for (let at = 1; at < form.length; at++)
    expect(await split(form.slice(0, at), form.slice(at))).toMatchObject({ apart: [] });
});

it('sets at most eight files apart', async () => {
  const forms = Array.from({ length: 10 }, () => part(file, long));
  const { apart } = await split(...forms.flatMap(form => [form.slice(0, 90), form.slice(90)]), '--b1--\r\n');
  expect(apart).toHaveLength(8);
});

it('sets no file apart whose head goes on after 16 KiB', async () => {
  const form = `${part(`${file}; x="${'x'.repeat(20_000)}"`, long)}--b1--\r\n`;
  expect((await split(form.slice(0, 17_000), form.slice(17_000, -50), form.slice(-50))).apart).toEqual([]);
  expect((await split(form.slice(0, 15_000), form.slice(15_000, -50), form.slice(-50))).apart).toEqual([long]);
});

it.each([
  ['the last boundary', '--b1--\r\n'],
  ['a malformed boundary', '--b1?\r\n'],
])('sets nothing apart behind %s', async (_what, end) => {
  expect((await split(`${end}${part(file, long).slice(0, -50)}`, part(file, long).slice(-50))).apart).toEqual([]);
});

it('looks at bytes together that arrive one by one: a file of less than 16 KiB is not apart', async () => {
  const form = (size: number): string => `${part(file, 'x'.repeat(size))}--b1--\r\n`;
  expect((await splitChunks(...form(900))).apart).toEqual([]);
  expect((await splitChunks(...(form(200_000).match(/.{1,100}/gs) ?? []))).apart).toHaveLength(1);
});

it('looks at each byte a few times only: boundaries without heads do not make it search all that follows', async () => {
  const hostile = '\r\n--b1'.repeat(300_000);
  expect((await split(hostile, '\r\n\r\n')).apart).toEqual([]);
});
