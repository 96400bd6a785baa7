import express from 'express';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { dto, int, optional, plainText, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { multipart } from '../../support/multipart';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Item extends dto({ sku: string, quantity: optional(int) }) {}
class Note extends dto({ text: plainText() }) {}

const JSON_ITEM = JSON.stringify({ sku: 'a'.repeat(50), quantity: 2 });
const packers = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const;
const packed = (coding: string, body: Buffer, type = 'application/json'): Sent => ({
  body,
  headers: { 'Content-Type': type, 'Content-Encoding': coding },
});

it.each(packers)('%s: JSON, a form and text are unpacked', async (coding, pack) => {
  expect((await bind(Item, packed(coding, pack(JSON_ITEM)))).dto).toEqual(JSON.parse(JSON_ITEM));
  expect(
    (await bind(Item, packed(coding, pack('sku=b&quantity=3'), 'application/x-www-form-urlencoded'), urlEncoded)).dto,
  ).toEqual({ sku: 'b', quantity: 3 });
  expect((await bind(Note, packed(coding, pack('text'), 'text/plain'))).dto).toEqual({ text: 'text' });
});

it.each(packers)('%s: a multipart form is refused', async (coding, pack) => {
  const { body, headers } = multipart([{ name: 'sku', value: 'a' }], 'b1');
  const { status, problem } = await bind(Item, packed(coding, pack(body), headers['Content-Type']), {
    allowFormData: true,
  });
  expect([status, problem?.detail]).toEqual([415, 'A multipart form is accepted only without a Content-Encoding.']);
  expect((await bind(Item, packed('identity', body, headers['Content-Type']), { allowFormData: true })).status).toBe(
    200,
  );
});

it.each(packers)('%s: what is unpacked is bounded, however small it came', async (coding, pack) => {
  const bomb = pack(Buffer.alloc(20_000_000, ' '));
  expect(bomb.length).toBeLessThan(100_000);
  const { status, problem } = await bind(Item, packed(coding, bomb));
  expect([status, problem?.type]).toEqual([413, 'urn:bindonce:body-too-large']);
});

it.each([
  ['what is not packed', packed('gzip', Buffer.from(JSON_ITEM)), 400],
  ['what is cut off', packed('gzip', gzipSync(JSON_ITEM).subarray(0, -12)), 400],
  ['what is packed otherwise', packed('br', gzipSync(JSON_ITEM)), 400],
  ['an unknown coding', packed('zstd-next', Buffer.from(JSON_ITEM)), 415],
  ['two codings', packed('gzip, gzip', gzipSync(gzipSync(JSON_ITEM))), 415],
  ['a coding that is a property of objects', packed('constructor', Buffer.from(JSON_ITEM)), 415],
])('%s is refused', async (_what, sent, expected) => {
  const { status, problem } = await bind(Item, sent);
  expect([status, problem?.status]).toEqual([expected, expected]);
});

const keepRaw = (req: object, _res: object, rawBody: Buffer): void => {
  Object.assign(req, { rawBody });
};

it.each([
  ['express.json()', express.json()],
  ['express.json() that keeps req.rawBody', express.json({ verify: keepRaw })],
  ['express.raw()', express.raw({ type: 'application/json' })],
  ['express.text() that keeps req.rawBody', express.text({ type: 'application/json', verify: keepRaw })],
])('a body that %s has unpacked is not unpacked again', async (_parser, parser) => {
  expect((await bind(Item, packed('gzip', gzipSync(JSON_ITEM)), { before: [parser] })).dto).toEqual(
    JSON.parse(JSON_ITEM),
  );
});
