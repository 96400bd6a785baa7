import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, file, fromForm, int, list, optional, string, type AnyType, type BindingLimits } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Form extends dto({ v: optional(string), n: optional(list(int)), files: optional(list(file)) }) {}
const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => [name, String(index)] as const);
const photos = (count: number, bytes = 1) =>
  Array.from({ length: count }, (_, index) => ['files', new File(['x'.repeat(bytes)], `${index}.png`)] as const);

it.each<[keyof BindingLimits, string, number, Sent, Sent, number]>([
  ['bodyBytes', 'a JSON body', 12, { json: '{"v":"abcd"}' }, { json: '{"v":"abcde"}' }, 413],
  ['bodyBytes', 'an urlencoded body', 6, { form: 'v=abcd' }, { form: 'v=abcde' }, 413],
  [
    'bodyBytes',
    'all fields of a multipart form together, names and values',
    6,
    {
      multipart: 'v=12&x=34',
    },
    {
      multipart: 'v=12&x=345',
    },
    413,
  ],
  ['fields', 'urlencoded fields', 3, { form: named('x', 3) }, { form: named('x', 4) }, 413],
  ['fields', 'query parameters', 3, { path: '/?x=1&y=2&x=3' }, { path: '/?x=1&y=2&x=3&z=4' }, 414],
  ['fields', 'multipart fields', 3, { multipart: named('x', 3) }, { multipart: named('x', 4) }, 413],
  ['fieldBytes', 'a multipart field', 5, { multipart: 'v=abcde' }, { multipart: 'v=abcdef' }, 413],
  ['files', 'files', 2, { multipart: photos(2) }, { multipart: photos(3) }, 413],
  ['fileBytes', 'a file', 5, { multipart: photos(1, 5) }, { multipart: photos(1, 6) }, 413],
  ['items', 'items by repeated names', 3, { form: named('n', 3) }, { form: named('n', 4) }, 400],
  ['items', 'comma-separated items', 3, { path: '/?n=1,2,3' }, { path: '/?n=1,2,3,4' }, 400],
  ['items', 'items of a JSON array', 3, { json: { n: [1, 2, 3] } }, { json: { n: [1, 2, 3, 4] } }, 400],
  ['items', 'items of a JSON array in text', 3, { path: '/?n=[1,2,3]' }, { path: '/?n=[1,2,3,4]' }, 400],
  ['items', 'an index', 3, { path: '/?n[2]=1' }, { path: '/?n[3]=1' }, 400],
  ['items', 'files', 3, { multipart: photos(3) }, { multipart: photos(4) }, 400],
])('%s bounds %s: %i is fine, one more is refused', async (limit, _what, value, fits, tooMuch, expected) => {
  const options = { ...urlEncoded, limits: { [limit]: value } };
  expect((await bind(Form, fits, options)).status).toBe(200);
  const { status, problem } = await bind(Form, tooMuch, options);
  expect([status, problem?.status]).toEqual([expected, expected]);
});

describe.each<[string, AnyType, AnyType]>([
  ['zod', z.array(z.any()), z.object({ n: z.array(z.any()) })],
  ['valibot', toStandardJsonSchema(v.array(v.any())), toStandardJsonSchema(v.object({ n: v.array(v.any()) }))],
  ['a schema that takes anything', z.any(), z.any()],
])('items of a schema that is fed by text: %s', (vendor, items, object) => {
  class Flat extends dto({ n: optional(items) }) {}
  class Named extends dto({ all: fromForm(object) }) {}
  const options = { ...urlEncoded, limits: { items: 3 } };
  const digits = (count: number) => Array.from({ length: count }, (_, index) => String(index));
  const shapes: readonly [string, (count: number) => Sent][] = [
    ['repeated names', count => ({ form: digits(count).map(n => ['n', n]) })],
    ['names with empty brackets', count => ({ form: digits(count).map(n => ['n[]', n]) })],
    ['indexed names', count => ({ form: digits(count).map(n => [`n[${n}]`, n]) })],
    ['one index, repeated', count => ({ form: digits(count).map(n => ['n[0]', n]) })],
    [
      'names with and without brackets',
      count => ({ form: digits(count).map((n, index) => [index % 2 === 0 ? 'n' : 'n[]', n]) }),
    ],
    // What takes anything takes text as it is.
    ...(vendor.startsWith('a schema')
      ? []
      : ([
          ['one comma-separated value', (count: number) => ({ form: [['n', digits(count).join()]] })],
          ['one JSON array', (count: number) => ({ form: [['n', `[${digits(count).join()}]`]] })],
        ] as [string, (count: number) => Sent][])),
  ];

  it.each(shapes)('%s: three are fine, four are refused', async (_shape, sent) => {
    for (const Dto of [Flat, Named])
      expect([
        (await bind<AnyType>(Dto, sent(3), options)).status,
        (await bind<AnyType>(Dto, sent(4), options)).status,
      ]).toEqual([200, 400]);
  });
});

it.each<[string, Sent, number]>([
  ['1 MiB of JSON', { json: { v: 'x'.repeat(1_048_576 - 8) } }, 200],
  ['more than 1 MiB of JSON', { json: { v: 'x'.repeat(1_048_576 - 7) } }, 413],
  ['10,000 items', { json: { n: Array.from({ length: 10_000 }, () => 1) } }, 200],
  ['10,001 items', { json: { n: Array.from({ length: 10_001 }, () => 1) } }, 400],
  ['10,000 items by name', { form: named('n', 10_000) }, 200],
  ['10,001 items by name', { form: named('n', 10_001) }, 400],
  ['10,000 items by index', { form: named('n', 10_000).map(([, value]) => [`n[${value}]`, value]) }, 200],
  ['10,001 items by index', { form: named('n', 10_001).map(([, value]) => [`n[${value}]`, value]) }, 400],
  ['20,000 fields', { form: named('x', 20_000) }, 200],
  ['20,001 fields', { form: named('x', 20_001) }, 413],
  ['100 files', { multipart: photos(100) }, 200],
  ['101 files', { multipart: photos(101) }, 413],
])("without limits of one's own: %s", async (_what, sent, expected) => {
  expect((await bind(Form, sent, urlEncoded)).status).toBe(expected);
});
