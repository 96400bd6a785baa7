import {
  bind,
  dto,
  field,
  formField,
  fromHeader,
  int,
  list,
  long,
  optional,
  plainText,
  queryParam,
  string,
} from '../../lib';
import type { SentParts } from '../../lib';

const JSON_BYTES = Buffer.from('{"a":9007199254740993}');
const inMemory = new Uint8Array([0, ...JSON_BYTES, 0]);
/** The bytes in a memory of exactly their length. */
const memory = (): ArrayBuffer => new Uint8Array(JSON_BYTES).buffer;

it.each<[string, unknown]>([
  ['a Buffer', JSON_BYTES],
  ['a Uint8Array, which is a part of its memory', inMemory.subarray(1, -1)],
  ['a DataView', new DataView(memory())],
  ['an ArrayBuffer', memory()],
  ['a SharedArrayBuffer', shared()],
])('a body of %s is read as its bytes', async (_what, body) => {
  expect(await bind(dto({ a: long }), { body })).toEqual({ a: 9007199254740993n });
  expect(await bind(dto({ text: plainText() }), { body })).toEqual({ text: String(JSON_BYTES) });
});

function shared(): SharedArrayBuffer {
  const bytes = new SharedArrayBuffer(JSON_BYTES.length);
  new Uint8Array(bytes).set(JSON_BYTES);
  return bytes;
}

class Parts extends dto({
  tags: queryParam(list(string), { default: [] }),
  tenant: fromHeader(list(string), { name: 'X-Tenant', default: [] }),
  sizes: formField(list(int), { default: [] }),
}) {}
const form = new FormData();
form.append('sizes', '1');
form.append('sizes', '2');
const headers = new Headers([
  ['x-tenant', 'a'],
  ['X-Tenant', 'b'],
]);

it.each<[string, SentParts, object]>([
  ['URLSearchParams', { query: new URLSearchParams('tags=a&tags=b,c') }, { tags: ['a', 'b,c'] }],
  ['URLSearchParams of one text, which is split', { query: new URLSearchParams('tags=a,b') }, { tags: ['a', 'b'] }],
  ['a form of URLSearchParams', { form: new URLSearchParams({ sizes: '1,2' }) }, { sizes: [1, 2] }],
  ['a FormData', { form: form as unknown as URLSearchParams }, { sizes: [1, 2] }],
  ['Headers', { headers }, { tenant: ['a', 'b'] }],
  ['a Map', { headers: new Map([['X-TENANT', 'a']]) }, { tenant: ['a'] }],
  [
    'a list of pairs',
    {
      query: [
        ['tags', 'a'],
        ['tags', 5],
      ],
    },
    { tags: ['a', '5'] },
  ],
  [
    'an object without a class',
    { query: Object.assign(Object.create(null), { tags: 'a' }) as object as never },
    { tags: ['a'] },
  ],
])('takes values in %s', async (_what, sent, values) => {
  expect(await bind(Parts, sent)).toEqual({ tags: [], tenant: [], sizes: [], ...values });
});

class Basket {
  readonly lines = [{ sku: 'tea' }];
}
class Priced {
  toJSON(): object {
    return { sku: 'tea' };
  }
}
class Line extends dto({ sku: field(optional(string)) }) {}

it.each<[string, unknown, object]>([
  ['an instance of a class with properties', new Basket(), { lines: [{ sku: 'tea' }] }],
  ['a dto without values', { lines: [new Line()] }, { lines: [{}] }],
  ['an object that its class writes', { lines: [new Priced()] }, { lines: [{ sku: 'tea' }] }],
])('takes a body that is %s', async (_what, body, value) => {
  expect(await bind(dto({ lines: list(Line) }), { body })).toEqual(value);
});

it.each<[string, object, string]>([
  [
    'a Blob as body',
    { body: new Blob(['{}']) },
    'the body is an instance of Blob, .* bytes .await blob.arrayBuffer...',
  ],
  ['a Map as body', { body: new Map([['a', 1]]) }, 'the body is an instance of Map, which JSON cannot hold'],
  ['a Map in the body', { body: { lines: [{ all: new Map() }] } }, 'the body has, as "all", an instance of Map,'],
  ['a Set in the body', { body: [new Set([1])] }, 'the body has, as "0", an instance of Set,'],
  ['a promise as body', { body: Promise.resolve({ a: 1 }) }, 'the body is an instance of Promise,'],
  ['a FormData as body', { body: new FormData() }, 'the body is an instance of FormData,'],
  ['bytes in the body', { body: { a: new Uint8Array(1) } }, 'the body has, as "a", an instance of Uint8Array,'],
  ['a Blob as query', { query: new Blob([]) }, 'query is an instance of Blob, .* an object with the values by name'],
  ['a promise of headers', { headers: Promise.resolve({}) }, 'headers is an instance of Promise, whose'],
  ['a Map as params', { params: new Map([['a', '1']]) }, 'params is an instance of Map, whose values cannot be read'],
  ['a file in a form', { form: fileForm() }, 'form.scan is an object; give text'],
  ['a list that has no pairs', { query: ['a=1'] }, 'query has an item that is not a pair of a name and a value'],
])('refuses %s', async (_what, sent, message) => {
  await expect(bind(dto({ a: optional(int) }), sent)).rejects.toThrow(new RegExp(`^bind: ${message}`));
});

function fileForm(): FormData {
  const withFile = new FormData();
  withFile.append('scan', new Blob(['a']), 'a.txt');
  return withFile;
}
