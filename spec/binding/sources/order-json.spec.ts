import { z } from 'zod';
import {
  dto,
  fromBody,
  int,
  list,
  long,
  nullable,
  optional,
  plainText,
  queryParam,
  string,
  type AnyType,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Item extends dto({ sku: string, quantity: int }) {}
const ITEM = { sku: 'a', quantity: 1 };

describe('a JSON body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/merge-patch+json',
    'application/vnd.shop.v1+json;charset="UTF-8"',
  ])('is %s', async type => {
    expect((await bind(Item, { json: ITEM, headers: { 'Content-Type': type } })).dto).toEqual(ITEM);
  });

  it('may begin with a byte order mark', async () => {
    expect((await bind(Item, { json: `\uFEFF${JSON.stringify(ITEM)}` })).dto).toEqual(ITEM);
  });

  it.each(['null', '', ' \n', '{}'])('%j has no values; a dto that needs none binds', async json => {
    class Free extends dto({ sku: optional(string), page: queryParam(int) }) {}
    expect((await bind(Free, { json, path: '/?page=2' })).dto).toEqual({ page: 2 });
    expect((await bind(Item, { json })).errors.map(({ name, pointer }) => [name, pointer])).toEqual([
      ['sku', '/sku'],
      ['quantity', '/quantity'],
    ]);
  });

  it.each(['[]', '[{"sku":"a","quantity":1}]', '"x"', '1', 'true'])('%s is no object', async json => {
    const { status, errors } = await bind(Item, { json });
    expect({ status, errors }).toMatchObject({
      status: 400,
      errors: [
        { name: '', in: 'json', pointer: '', detail: expect.stringMatching(/is not a JSON object\.$/) as string },
      ],
    });
  });

  it('two values of one name are ambiguous beside a type that keeps digits, even if no property has the name', async () => {
    class Exact extends dto({ a: int, total: optional(long) }) {}
    const { status, problem } = await bind(Exact, { json: '{"a":1,\n "other":1,"other":2}' });
    expect([status, problem?.type, problem?.detail]).toEqual([
      400,
      'urn:bindonce:body-malformed',
      'The body is ambiguous: an object has one name with two different values, the second at line 2, column 20. ' +
        'Send each name once.',
    ]);
    expect((await bind(Exact, { json: '{"a":1,"other":1,"other":1}' })).dto).toEqual({ a: 1 });
  });
});

describe('list(Dto) at the root', () => {
  const Items = list(Item);

  it.each([
    ['an object', ITEM, '{…}'],
    ['text', '"x"', '"x"'],
    ['a number', 1, '1'],
  ])('refuses %s', async (_what, json, quoted) => {
    expect((await bind(Items, { json })).errors).toEqual([
      { name: '', in: 'json', pointer: '', detail: `The value ${quoted} is not a JSON array.` },
    ]);
  });

  it.each<[string, Sent]>([
    ['a GET without a body', { method: 'GET' }],
    ['no body', {}],
    ['an empty body', { json: '' }],
    ['null', { json: 'null' }],
  ])('is missing with %s: the failure points at the whole body', async (_what, sent) => {
    expect((await bind(Items, sent)).errors).toEqual([
      { name: '', in: 'json', pointer: '', detail: 'A JSON body is required.' },
    ]);
  });
});

describe.each<[string, AnyType, unknown]>([
  ['list', optional(list(int)), [1]],
  ['schema', optional(z.object({ a: z.number() })), { a: 1 }],
])('an optional %s that takes the whole body', (_what, type, value) => {
  class Whole extends dto({ all: fromBody(type) }) {}

  it.each<[string, Sent]>([
    ['a GET without a body', { method: 'GET' }],
    ['a POST without a body', {}],
    ['an empty body', { json: '' }],
    ['null', { json: 'null' }],
  ])('is undefined, and no key of a dto: %s', async (_body, sent) => {
    const { status, dto: bound } = await bind(type, sent);
    expect([status, bound]).toEqual([200, undefined]);
    const whole = await bind(Whole, sent);
    expect([whole.status, Object.keys(whole.dto ?? { none: true })]).toEqual([200, []]);
  });

  it('is the value that was sent, and is refused if that is not valid', async () => {
    expect((await bind(type, { json: value })).dto).toEqual(value);
    expect((await bind(Whole, { json: value })).dto).toEqual({ all: value });
    for (const Dto of [type, Whole]) expect((await bind(Dto, { json: 'true' })).status).toBe(400);
  });
});

describe('fromBody', () => {
  it.each<[string, AnyType, string, unknown]>([
    ['nullable', nullable(Item), 'null', { all: null }],
    ['optional', optional(Item), 'null', {}],
    ['optional', optional(Item), '', {}],
  ])('that is %s takes %j', async (_what, type, json, value) => {
    class Whole extends dto({ all: fromBody(type) }) {}
    expect((await bind(Whole, { json })).dto).toEqual(value);
  });
});

describe('plainText', () => {
  class Note extends dto({ id: int, text: plainText(), tag: queryParam(string, { default: 'none' }) }) {}

  it.each(['text/plain', 'application/json', 'application/xml', 'text/csv; charset=utf-8', ''])(
    'takes the body as it is, whatever its content type: %j',
    async type => {
      const body = '{"id": 1}  é\n';
      expect(
        (
          await bind(
            Note,
            { body, path: '/7', headers: type === '' ? {} : { 'Content-Type': type } },
            { route: '/:id' },
          )
        ).dto,
      ).toEqual({ id: 7, text: body, tag: 'none' });
    },
  );

  it('is required like any other value', async () => {
    expect((await bind(Note, { path: '/7' }, { route: '/:id' })).errors).toEqual([
      { name: 'text', in: 'body', detail: 'A value is required.' },
    ]);
  });

  it('is bounded and must be UTF-8', async () => {
    expect(
      (await bind(Note, { body: 'x'.repeat(11), path: '/7' }, { route: '/:id', limits: { bodyBytes: 10 } })).status,
    ).toBe(413);
    expect((await bind(Note, { body: Buffer.from([0xff, 0xfe]), path: '/7' }, { route: '/:id' })).status).toBe(400);
  });
});
