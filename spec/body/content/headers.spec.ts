import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { IncomingMessage } from 'node:http';
import { decodedText, mediaTypeOf, uncompressed } from '../../../lib/body/content/headers';

const withHeaders = (headers: Record<string, string>): IncomingMessage =>
  ({ headers, readableDidRead: false }) as unknown as IncomingMessage;
const mediaType = (type: string) => mediaTypeOf(withHeaders({ 'content-type': type }));
const TEXT = Buffer.from('grün');

describe('a content coding', () => {
  it.each<[string | undefined, Buffer]>([
    [undefined, TEXT],
    ['', TEXT],
    ['identity', TEXT],
    [' GZip ', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ])('%p is undone', async (coding, bytes) => {
    expect(await uncompressed(bytes, coding, 100)).toEqual(TEXT);
  });

  it.each(['compress', 'gzip, br', '__proto__', 'x'.repeat(1_000)])('%p is a 415', async coding => {
    await expect(uncompressed(TEXT, coding, 100)).rejects.toMatchObject({
      status: 415,
      message: `The content encoding "${coding.slice(0, 40)}" is not supported; send gzip, deflate, br or none.`,
    });
  });

  const zeros = Buffer.alloc(100_000);
  it.each<[string, Buffer]>([
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
  ])('%s that the bytes are not in is a 400, and one that unpacks to more than the limit a 413', async (...row) => {
    const [coding, bytes] = row;
    await expect(uncompressed(TEXT, coding, 100)).rejects.toMatchObject({ status: 400, code: 'body-malformed' });
    await expect(uncompressed(bytes, coding, 99_999)).rejects.toMatchObject({ status: 413, code: 'body-too-large' });
    expect(await uncompressed(bytes, coding, 100_000)).toHaveLength(100_000);
  });
});

describe('text', () => {
  it.each<[string, Buffer, string | number]>([
    ['text/plain', TEXT, 'grün'],
    ['text/plain; charset=UTF-8', TEXT, 'grün'],
    ['text/plain; charset="utf8"', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), TEXT]), 'grün'],
    ['text/plain; charset=latin1', TEXT, 415],
    ['text/plain', Buffer.from([0xff]), 400],
    ['text/plain', TEXT.subarray(0, 3), 400],
  ])('%s, %j, is %s', (type, bytes, expected) => {
    const read = (): string => decodedText(bytes, mediaType(type));
    if (typeof expected === 'string') expect(read()).toBe(expected);
    else expect(read).toThrow(expect.objectContaining({ status: expected }));
  });
});

it.each<readonly [string, string]>([
  ['application/json', 'json'],
  ['Application/JSON; charset=utf-8', 'json'],
  ['application/vnd.a.b+json;v=1', 'json'],
  ['multipart/form-data; boundary=x', 'multipart'],
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ...['text/plain', 'multipart/mixed; boundary=x', 'application/jsonp', 'text/json', '+json', '', 'nonsense', ';'].map(
    type => [type, 'other'] as const,
  ),
])('the media type %p is of kind %s', (type, kind) => {
  expect(mediaType(type).kind).toBe(kind);
});
