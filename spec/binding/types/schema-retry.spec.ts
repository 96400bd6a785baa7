import * as v from 'valibot';
import { z } from 'zod';
import {
  dto,
  fromHeader,
  fromQuery,
  nullable,
  optional,
  queryParam,
  routeParam,
  type AnyType,
  type UploadedFile,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

const isSku = (value: unknown): boolean => (value as string).startsWith('sku-');
const sku = v.pipe(v.any(), v.check(isSku, 'not a sku'));
const later = v.pipeAsync(
  v.any(),
  v.checkAsync(async value => Promise.resolve(isSku(value)), 'not a sku'),
);

describe.each<[string, v.GenericSchema | v.GenericSchemaAsync]>([
  ['a schema', sku],
  ['an asynchronous schema', later],
])('%s whose check fails for what is not text', (_how, schema) => {
  class Query extends dto({ v: queryParam(schema) }) {}
  class Header extends dto({ v: fromHeader(schema) }) {}
  class Whole extends dto({ all: fromQuery(v.objectAsync({ v: schema })) }) {}

  it.each<[string, AnyType, Sent, object]>([
    ['text', Query, { path: '/?v=x' }, { name: 'v', in: 'query' }],
    ['text that looks like a JSON object', Query, { path: '/?v={}' }, { name: 'v', in: 'query' }],
    ['text that looks like a JSON array', Query, { path: '/?v=[1]' }, { name: 'v', in: 'query' }],
    ['a header', Header, { headers: { v: 'x' } }, { name: 'v', in: 'header' }],
    ['text among all names', Whole, { path: '/?v=x' }, { name: 'v', in: 'query' }],
    ['JSON among all names', Whole, { path: '/?v={}' }, { name: 'v', in: 'query' }],
  ])('has its own issue for %s', async (_what, Dto, sent, where) => {
    const { status, errors } = await bind(Dto, { method: 'GET', ...sent });
    expect([status, errors]).toEqual([400, [expect.objectContaining({ ...where, detail: 'not a sku' })]]);
  });

  it.each<[string, AnyType, object]>([
    ['a query parameter', Query, { name: 'v', in: 'query', detail: 'This query parameter is required.' }],
    ['a header', Header, { name: 'v', in: 'header' }],
  ])('is a missing value where %s is missing', async (_what, Dto, failure) => {
    const { status, errors } = await bind(Dto, { method: 'GET' });
    expect([status, errors]).toMatchObject([400, [failure]]);
  });

  it('has null in JSON as a missing value where the value may be missing', async () => {
    expect((await bind(dto({ v: optional(schema) }), { json: { v: null } })).dto).toEqual({});
    expect((await bind(dto({ v: optional(nullable(schema)) }), { json: { v: null } })).dto).toEqual({ v: null });
  });
});

describe('several values of a schema whose check fails for an array', () => {
  const trimmed = z.preprocess(text => (text as string).trim(), z.string());
  const trimmedLater = v.pipeAsync(
    v.any(),
    v.checkAsync(async text => Promise.resolve((text as string).trim() !== '')),
  );

  it.each<[string, AnyType, Sent, object]>([
    ['in a query', dto({ v: queryParam(trimmed) }), { path: '/?v=a&v=b' }, { name: 'v', in: 'query' }],
    ['in a query, later', dto({ v: queryParam(trimmedLater) }), { path: '/?v=a&v=b' }, { name: 'v', in: 'query' }],
    [
      'that may be missing',
      dto({ v: queryParam(optional(trimmed)) }),
      { path: '/?v=a&v=b' },
      { name: 'v', in: 'query' },
    ],
    ['in a header', dto({ v: fromHeader(trimmed) }), { headers: { v: ['a', 'b'] } }, { name: 'v', in: 'header' }],
  ])('are refused: %s', async (_where, Dto, sent, where) => {
    const { status, errors } = await bind(Dto, { method: 'GET', ...sent });
    expect([status, errors]).toEqual([400, [{ ...where, detail: 'There are 2 values where one is expected.' }]]);
  });
});

it('a collection is read where the check of a schema fails for an object', async () => {
  const isTags = (sent: unknown): boolean => typeof sent !== 'string' && (sent as string[]).every(tag => tag !== '');
  const tags = v.pipe(v.any(), v.check(isTags));
  class Flat extends dto({ tags: queryParam(tags) }) {}
  class Whole extends dto({ all: fromQuery(v.object({ tags })) }) {}
  const asked = { method: 'GET', path: '/?tags=a,b' };
  expect((await bind(Flat, asked)).dto).toEqual({ tags: ['a', 'b'] });
  expect((await bind(Whole, asked)).dto).toEqual({ all: { tags: ['a', 'b'] } });
});

describe('the segments of a wildcard', () => {
  const path = z.custom<string>(value => (value as string).startsWith('docs/'), 'not below docs');
  const several = z.custom<string[]>(value => (value as string[]).every(one => one !== 'no'), 'a segment is no');
  const read = async (schema: AnyType, sent: string) => {
    const {
      status,
      dto: bound,
      errors,
    } = await bind(dto({ path: routeParam(schema) }), { method: 'GET', path: sent }, { route: '/files/*path' });
    return [status, (bound as { path?: unknown } | undefined)?.path ?? errors.map(({ detail }) => detail)];
  };

  it('are text where the check of a schema fails for an array', async () => {
    expect(await read(path, '/files/docs/a')).toEqual([200, 'docs/a']);
    expect(await read(path, '/files/other/a')).toEqual([400, ['not below docs']]);
    expect(await read(path, '/files/other')).toEqual([400, ['not below docs']]);
  });

  it('are an array where the check of a schema fails for text', async () => {
    expect(await read(several, '/files/a')).toEqual([200, ['a']]);
    expect(await read(several, '/files/a/b')).toEqual([200, ['a', 'b']]);
    expect(await read(several, '/files/no')).toEqual([400, ['a segment is no']]);
  });

  it("are the application's error where the check fails for both", async () => {
    const broken = z.any().transform(() => (undefined as unknown as UploadedFile).size);
    for (const sent of ['/files/a', '/files/a/b']) expect((await read(broken, sent))[0]).toBe(500);
  });
});

it('names make a difference to an optional schema whose transformation fails without them', async () => {
  const sorted = z.record(z.string(), z.string()).transform(names => (names['sort'] as string).split(','));
  const { dto: bound } = await bind(dto({ all: fromQuery(optional(sorted)) }), { method: 'GET', path: '/?sort=a,b' });
  expect(bound).toEqual({ all: ['a', 'b'] });
});

it("a TypeError for the text itself is the application's error", async () => {
  const broken = z.string().transform(text => (text as unknown as { size: { x: number } }).size.x);
  expect((await bind(dto({ v: queryParam(broken) }), { method: 'GET', path: '/?v=x' })).status).toBe(500);
});
