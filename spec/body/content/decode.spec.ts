import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { IncomingMessage } from 'node:http';
import { decodedText, uncompressed } from '../../../lib/body/content/decode';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../../lib/body/content/media-type';

const withHeaders = (headers: Record<string, string>): IncomingMessage => ({ headers }) as unknown as IncomingMessage;
const mediaType = (type: string) => mediaTypeOf(withHeaders({ 'content-type': type }));
const TEXT = Buffer.from('grün');

describe('a content coding', () => {
  it.each<[string | undefined, Buffer]>([
    [undefined, TEXT],
    ['', TEXT],
    ['identity', TEXT],
    ['gzip', gzipSync(TEXT)],
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

  it.each(['gzip', 'deflate', 'br'])('%s that the bytes are not in is a 400', async coding => {
    await expect(uncompressed(TEXT, coding, 100)).rejects.toMatchObject({ status: 400, code: 'body-malformed' });
  });

  it.each<[string, Buffer]>([
    ['gzip', gzipSync(Buffer.alloc(100_000))],
    ['deflate', deflateSync(Buffer.alloc(100_000))],
    ['br', brotliCompressSync(Buffer.alloc(100_000))],
  ])('%s that unpacks to more than the limit is a 413', async (coding, bytes) => {
    await expect(uncompressed(bytes, coding, 99_999)).rejects.toMatchObject({ status: 413, code: 'body-too-large' });
    expect(await uncompressed(bytes, coding, 100_000)).toHaveLength(100_000);
  });
});

describe('text', () => {
  it.each<[string, string, Buffer]>([
    ['without a charset', 'text/plain', TEXT],
    ['in UTF-8', 'text/plain; charset=UTF-8', TEXT],
    ['in utf8', 'text/plain; charset="utf8"', TEXT],
    ['with a byte order mark', 'text/plain', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), TEXT])],
  ])('%s is read', (_title, type, bytes) => {
    expect(decodedText(bytes, mediaType(type))).toBe('grün');
  });

  it.each<[string, string, Buffer, number]>([
    ['in another charset', 'text/plain; charset=latin1', TEXT, 415],
    ['that is no UTF-8', 'text/plain', Buffer.from([0xff]), 400],
    ['that is cut off in a character', 'text/plain', TEXT.subarray(0, 3), 400],
  ])('%s is refused', (_title, type, bytes, status) => {
    expect(() => decodedText(bytes, mediaType(type))).toThrow(expect.objectContaining({ status }));
  });
});

describe('a media type', () => {
  it.each([
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/problem+json', 'json'],
    ['application/vnd.a.b+json;v=1', 'json'],
    ['multipart/form-data; boundary=x', 'multipart'],
    ['application/x-www-form-urlencoded', 'urlencoded'],
    ['text/plain', 'other'],
    ['multipart/mixed; boundary=x', 'other'],
    ['application/jsonp', 'other'],
    ['text/json', 'other'],
    ['+json', 'other'],
    ['', 'other'],
    ['nonsense', 'other'],
    [';', 'other'],
  ])('%p is of kind %s', (type, kind) => {
    expect(bodyKindOf(mediaType(type))).toBe(kind);
  });

  it('has its parameters by names in lower case, and so its charset', () => {
    expect(mediaType('text/plain; Charset="UTF-8"; b=B')).toMatchObject({
      type: 'text/plain',
      parameters: { charset: 'utf-8', b: 'B' },
    });
  });
});

describe('a request', () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ 'content-type': 'application/json' }, false],
    [{ 'content-length': '0' }, false],
    [{ 'content-length': '1' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
  ])('with %j has a body: %p', (headers, expected) => {
    expect(hasBody(withHeaders(headers))).toBe(expected);
  });
});
