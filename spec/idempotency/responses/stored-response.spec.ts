import { processorTime } from '../../support/processor-time';
import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { fromStored, toStored } from '../../../lib/idempotency/responses/stored-response';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

const BODY = Buffer.from('hello').toString('base64');
const valid = {
  version: 1,
  key: 'k',
  status: 200,
  headers: [
    ['X-A', 'a'],
    ['Content-Length', '5'],
  ],
  trailers: [],
  body: BODY,
};
const POST = { key: 'k', method: 'POST', maxBytes: 1_000 };
const LONG = 'x'.repeat(10_000_000);

const broken: [title: string, record: unknown][] = [
  ['null', null],
  ['a text', 'x'],
  ['an array', [valid]],
  ['another version', { ...valid, version: 2 }],
  ['another key', { ...valid, key: 'l' }],
  ['no key', { ...valid, key: undefined }],
  ...[101, 100, 199, 1_000, 0, -200, 200.5, NaN, '200', null, undefined].map((status): [string, unknown] => [
    `status ${String(status)}`,
    { ...valid, status },
  ]),
  ...['a\nb', 'a\r\nX: y', '\0', 'ü'.repeat(2_000_000), 'Ā', 1, null, {}].map((reason): [string, unknown] => [
    `the reason ${JSON.stringify(reason).slice(0, 20)}`,
    { ...valid, reason },
  ]),
  ...['x', 'writeHead', null, 1].map((impliedBy): [string, unknown] => [
    `implied by ${String(impliedBy)}`,
    { ...valid, impliedBy },
  ]),
  ...[
    undefined,
    null,
    {},
    'X-A',
    [null],
    ['X-A'],
    [[]],
    [['X-A']],
    [['X-A', 'a', 'b']],
    [['X A', 'a']],
    [['', 'a']],
    [['X-A', 'a\r\nX-B: b']],
    [['X-A', '\0']],
    [['X-A', 1]],
    [['X-A', null]],
    [['X-A', ['a', 1]]],
    [['X-A', ['a\n']]],
    [[1, 'a']],
    [{ 0: 'X-A', 1: 'a', length: 2 }],
    [
      ['X-A', 'a'],
      ['x-a', 'b'],
    ],
    [['Transfer-Encoding', 'chunked']],
    [['transfer-encoding', 'gzip']],
    [['Connection', 'close']],
    [['Keep-Alive', '1']],
    [['Upgrade', 'x']],
    [['Date', 'x']],
    [['X-A', LONG]],
    [[LONG, 'a']],
    Array.from({ length: 200_000 }, (_, index) => [`x-${index}`, 'value']),
    [
      ['X-A', 'ab'.repeat(400_000)],
      ['X-B', 'ab'.repeat(400_000)],
    ],
  ].flatMap((lines): [string, unknown][] => [
    [`the headers ${String(JSON.stringify(lines)).slice(0, 60)}`, { ...valid, headers: lines }],
    [`the trailers ${String(JSON.stringify(lines)).slice(0, 60)}`, { ...valid, trailers: lines }],
  ]),
  ...['3', '6', '05x', '-5', '5, 5', ['5', '5'], '', ' 5', '0x5', '5e0', '9'.repeat(400)].map(
    (length): [string, unknown] => [
      `the Content-Length ${JSON.stringify(length).slice(0, 20)}`,
      { ...valid, headers: [['content-length', length]] },
    ],
  ),
  ['a Content-Length among the trailers', { ...valid, trailers: [['Content-Length', '5']] }],
  ...[
    undefined,
    null,
    {},
    [],
    1,
    'a',
    '****',
    `${BODY}\n`,
    BODY.replace('=', ''),
    `${BODY}AAAA`.replace('=', ''),
    Buffer.from('hello'),
    Buffer.alloc(1_001).toString('base64'),
    'A'.repeat(200_000_000),
  ].map((body): [string, unknown] => [
    `the body ${String(JSON.stringify(body)).slice(0, 20)}`,
    { ...valid, headers: [], body },
  ]),
  ...[null, 'x', ['a b'], [1], [''], ['connection'], [LONG]].map((removed): [string, unknown] => [
    `removed ${String(JSON.stringify(removed)).slice(0, 20)}`,
    { ...valid, removed },
  ]),
];

/** Damages the record in what Keyv keeps: an object with the record as its value. */
function inRecord(damage: (record: string) => string, kept: string): string {
  const { value, ...rest } = JSON.parse(kept) as { value: string };
  return JSON.stringify({ value: damage(value), ...rest });
}

describe('a record of the store', () => {
  it.each(broken)('with %s is not a response', async (_title, record) => {
    const text = JSON.stringify(record);
    const ms = await processorTime(() => {
      expect(fromStored(text, POST)).toBeUndefined();
    });
    expect(ms).toBeLessThan(5_000);
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['not a text', valid],
    ['not JSON', JSON.stringify(valid).slice(1)],
    ['bytes', Buffer.from(JSON.stringify(valid))],
  ])('that is %s is not a response', (_title, record) => {
    expect(fromStored(record, POST)).toBeUndefined();
  });

  it.each<[string, string, object, object]>([
    ['a length without a body, for HEAD', 'HEAD', valid, { body: '' }],
    ['a length without a body, for 304', 'GET', valid, { body: '', status: 304 }],
    ['no length', 'POST', valid, { headers: [] }],
    ['every status of a final response', 'POST', valid, { status: 999 }],
    [
      'all that there can be',
      'POST',
      valid,
      {
        reason: 'So ü',
        impliedBy: 'write',
        removed: ['x-debug'],
        headers: [
          ['Set-Cookie', ['a=1', 'b=ü']],
          ['Trailer', 'X-T'],
        ],
        trailers: [['X-T', ['1', '2']]],
      },
    ],
  ])('with %s is a response', (_title, method, record, more) => {
    const read = fromStored(JSON.stringify({ ...record, ...more }), { ...POST, method });
    expect(read && JSON.parse(toStored('k', read))).toEqual({ ...record, ...more });
  });

  it.each<[string, string, object]>([
    ['a body, for HEAD', 'HEAD', {}],
    ['a body, for 204', 'POST', { status: 204 }],
    ['a body, for 304', 'GET', { status: 304 }],
    ['a length without a body, for POST', 'POST', { body: '' }],
  ])('with %s is not a response', (_title, method, more) => {
    expect(fromStored(JSON.stringify({ ...valid, ...more }), { ...POST, method })).toBeUndefined();
  });

  it.each<[string, string | ((text: string) => string)]>([
    ['a Content-Length that is too short', text => text.replace('"Content-Length","5"', '"Content-Length","3"')],
    [
      'a Transfer-Encoding beside the length',
      text => text.replace('["Content-Length"', '["Transfer-Encoding","chunked"],["Content-Length"'),
    ],
    ['status 101', text => text.replace('"status":200', '"status":101')],
    ['headers that are none', text => text.replace(/"headers":\[.*?\]\]/, '"headers":[null]')],
    ['half of its text', text => text.slice(0, text.length / 2)],
    ['text that is no JSON', 'hello'],
    ['null', 'null'],
    ['a number', '5'],
  ])('with %s is answered with 409; the connection goes on, and nothing runs', async (_title, damage) => {
    const map = new Map<string, string>();
    let runs = 0;
    const app = express().post(
      '/',
      idempotency({ store: new Keyv({ store: map }), storeTimeout: 500 }),
      (_req, res) => {
        runs++;
        res.set('Content-Length', '5').end('hello');
      },
    );
    const { url, port } = await serve(app);
    await send(url, { headers: keyed('k') });
    for (const [key, text] of [...map]) map.set(key, typeof damage === 'string' ? damage : inRecord(damage, text));
    const request = (key: string): string =>
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n`;
    const client = connect(port, '127.0.0.1');
    client.write(`${request('k')}\r\n${request('other')}Connection: close\r\n\r\n`);
    let wire = '';
    client.on('data', chunk => {
      wire += String(chunk);
    });
    await once(client, 'close');
    expect(wire.match(/HTTP\/1\.1 \d+|urn:[a-z:-]+/g)).toEqual([
      'HTTP/1.1 409',
      'urn:bindonce:response-unavailable',
      'HTTP/1.1 200',
    ]);
    expect(wire.endsWith('\r\n\r\nhello')).toBe(true);
    expect(runs).toBe(2);
  });
});
