import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import {
  dto,
  field,
  fromClaim,
  fromForm,
  fromHeader,
  fromQuery,
  nullable,
  optional,
  queryParam,
  valueParserFor,
  type AnyType,
} from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

const asynchronous = z.coerce.number().refine(async number => Promise.resolve(number < 9));

describe('empty text where a schema may be missing', () => {
  it.each<[string, AnyType, unknown]>([
    ['text is text', z.string(), ''],
    ['text that may be null is text', z.string().nullable(), ''],
    ['an exact text', z.literal(''), ''],
    ['a schema that makes a text of it', z.string().transform(text => `${text}!`), '!'],
    ['a number is missing', z.coerce.number(), undefined],
    ['a number that is checked asynchronously is missing', asynchronous, undefined],
    ['a date is missing', z.coerce.date(), undefined],
    ['a boolean is missing', z.coerce.boolean(), undefined],
    ['an enum is missing', z.enum(['a', 'b']), undefined],
    ['an array is missing', z.array(z.string()), undefined],
    ['text that must not be empty is missing', v.pipe(v.string(), v.minLength(1)), undefined],
    ['a number in text is missing', type('string.integer.parse'), undefined],
  ])('%s', async (_what, schema, value) => {
    class Asked extends dto({ v: optional(schema) }) {}
    class Loose extends dto({ v: queryParam(schema, { required: false }) }) {}
    class Whole extends dto({ all: fromQuery(Asked) }) {}
    class Head extends dto({ v: fromHeader(optional(schema)) }) {}
    class Caller extends dto({ v: fromClaim(optional(schema)) }) {}
    const bound = value === undefined ? {} : { v: value };
    const asked = { method: 'GET', path: '/?v=' };
    expect((await bind(Asked, asked)).dto).toEqual(bound);
    expect((await bind(Loose, asked)).dto).toEqual(bound);
    expect((await bind(Whole, asked)).dto).toEqual({ all: bound });
    expect((await bind(Asked, { form: [['v', '']] }, urlEncoded)).dto).toEqual(bound);
    expect((await bind(Head, { headers: { v: '' } })).dto).toEqual(bound);
    expect((await bind(Caller, {}, { user: { v: '' } })).dto).toEqual(bound);
  });

  it('is missing as the one item of an array, as for a list', async () => {
    class Flat extends dto({ v: optional(z.array(z.string())) }) {}
    class Whole extends dto({ all: fromForm(Flat) }) {}
    for (const form of ['v[]=', 'v[0]=']) {
      expect((await bind(Flat, { form }, urlEncoded)).dto).toEqual({});
      expect((await bind(Whole, { form }, urlEncoded)).dto).toEqual({ all: {} });
    }
  });

  it('is a default, and what a value parser makes of it', async () => {
    const count = z.coerce.number();
    class Page extends dto({ page: queryParam(count, { default: 1 }) }) {}
    expect((await bind(Page, { path: '/?page=' })).dto).toEqual({ page: 1 });
    const valueParsers = [valueParserFor(count, () => ({ success: true, value: 7 }))];
    expect((await bind(Page, { path: '/?page=' }, { valueParsers })).dto).toEqual({ page: 7 });
  });

  it('is a value for the schema where one is required', async () => {
    class Page extends dto({ page: queryParam(z.coerce.number()) }) {}
    expect((await bind(Page, { path: '/?page=' })).dto).toEqual({ page: 0 });
  });
});

describe('JSON null where a schema may be missing', () => {
  it.each<[string, AnyType, unknown]>([
    ['text is missing', z.string(), undefined],
    ['text that anything is made into is missing', z.coerce.string(), undefined],
    ['text of valibot is missing', v.string(), undefined],
    ['text of arktype is missing', type('string'), undefined],
    ['an object is missing', z.object({ a: z.string() }), undefined],
    ['text that may be null is null', z.string().nullable(), null],
    ['what the declaration lets be null is null', nullable(z.string()), null],
    ['a schema that makes something of it', z.preprocess(value => value ?? 'none', z.string()), 'none'],
  ])('%s', async (_what, schema, value) => {
    class Sent extends dto({ v: optional(schema) }) {}
    class Loose extends dto({ v: field(schema, { required: false }) }) {}
    class Outer extends dto({ in: Sent }) {}
    class Caller extends dto({ v: fromClaim(optional(schema)) }) {}
    const bound = value === undefined ? {} : { v: value };
    expect((await bind(Sent, { json: { v: null } })).dto).toEqual(bound);
    expect((await bind(Loose, { json: { v: null } })).dto).toEqual(bound);
    expect((await bind(Outer, { json: { in: { v: null } } })).dto).toEqual({ in: bound });
    expect((await bind(Caller, {}, { user: { v: null } })).dto).toEqual(bound);
  });

  it('reaches a converter', async () => {
    const count = z.number();
    class Sent extends dto({ v: optional(count) }) {}
    const converters = [{ type: count, read: () => ({ success: true, value: 7 }) as const, write: String }];
    expect((await bind(Sent, { json: { v: null } }, { converters })).dto).toEqual({ v: 7 });
  });
});

it('a claim that is null is a failure for a schema that refuses it', async () => {
  class Caller extends dto({ v: fromClaim(z.string()) }) {}
  const { status, errors } = await bind(Caller, {}, { user: { v: null } });
  expect([status, errors]).toMatchObject([400, [{ name: 'v', in: 'claim' }]]);
});
