import { z } from 'zod';
import {
  bool,
  double,
  dto,
  field,
  fromClaim,
  fromCookie,
  fromHeader,
  guid,
  hasPermission,
  int,
  list,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type BindingFailure,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Line extends dto({ sku: string, quantity: int }) {}
class Everything extends dto({
  lines: list(Line),
  note: field(string, { jsonPropertyName: 'remark' }),
  orderId: routeParam(guid),
  page: queryParam(int),
  rush: field(bool, { bindFrom: 'is_rush', required: false }),
  userId: fromClaim(int, { name: 'sub' }),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  visits: fromCookie(int),
  may: hasPermission('orders:write'),
}) {}

describe.each(expressVersions)('%s', (_name, framework) => {
  it('every failure of every source is in one answer, each under the name it was looked up under', async () => {
    const {
      status,
      problem,
      response,
      dto: bound,
    } = await bind(
      Everything,
      {
        path: '/nonsense?page=x&IS_RUSH=maybe&secret=hunter2',
        json: { lines: [{ sku: 'a', quantity: 1 }, { quantity: 'x' }], remark: 7 },
        headers: { Cookie: 'visits=x' },
      },
      { framework, route: '/:orderid', user: { sub: 'x' } },
    );
    expect([status, bound]).toEqual([400, undefined]);
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(problem).toEqual({
      type: 'urn:bindonce:validation-failed',
      title: 'One or more values are not valid',
      status: 400,
      detail: '10 values are not valid.',
      instance: '/nonsense',
      errors: [
        { name: 'lines[1].sku', in: 'json', pointer: '/lines/1/sku', detail: 'A value is required.' },
        {
          name: 'lines[1].quantity',
          in: 'json',
          pointer: '/lines/1/quantity',
          detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
        },
        { name: 'remark', in: 'json', pointer: '/remark', detail: 'The value 7 is not a string.' },
        {
          name: 'orderId',
          in: 'route',
          detail: 'The value "nonsense" is not a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.',
        },
        { name: 'page', in: 'query', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
        { name: 'is_rush', in: 'query', detail: 'The value "maybe" is not true or false.' },
        { name: 'sub', in: 'claim', detail: 'The value is not a whole number from -2147483648 to 2147483647.' },
        { name: 'visits', in: 'cookie', detail: 'The value is not a whole number from -2147483648 to 2147483647.' },
        { name: 'orders:write', in: 'permission', detail: 'The caller does not have this permission.' },
        { name: 'X-Tenant', in: 'header', detail: 'This header is missing from the request.' },
      ],
    });
  });

  it('no stack trace, no file name, no query is in it', async () => {
    const { response } = await bind(
      Everything,
      { path: '/x?secret=hunter2', json: '{"a":' },
      { framework, route: '/:orderId' },
    );
    expect(response.text).not.toMatch(/hunter2|node_modules|\.[jt]s\b|\n\s+at /);
  });
});

it.each([
  ['one', { sku: 1, quantity: 1 }, 'One value is not valid.'],
  ['two', { sku: 1 }, '2 values are not valid.'],
])('the detail counts: %s', async (_count, json, detail) => {
  expect((await bind(Line, { json })).problem?.detail).toBe(detail);
});

it.each<[string, AnyType, Parameters<typeof bind>[1], number, string]>([
  ['a list that is cut', list(int), { json: Array(900).fill('x') }, 100, 'At least 100 values are not valid.'],
  ['a list that has room for all', list(int), { json: Array(100).fill('x') }, 100, '100 values are not valid.'],
  [
    'the issues of a schema, cut',
    z.array(z.number()),
    { json: ['x', 'x', 'x'] },
    2,
    'At least 2 values are not valid.',
  ],
  ['as many issues as are listed', z.array(z.number()), { json: ['x', 'x'] }, 2, '2 values are not valid.'],
  ['a list of one', Line, { json: {} }, 1, 'At least one value is not valid.'],
])('the detail counts what is listed, and says so: %s', async (_what, Dto, sent, failures, detail) => {
  const { problem } = await bind(Dto, sent, { limits: { failures } });
  expect([problem?.errors?.length, problem?.detail]).toEqual([failures, detail]);
});

describe('the detail says that there is no body, if a value is missing in it:', () => {
  const chunked = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };

  it.each<[string, AnyType, Sent, string]>([
    ['no body', Line, {}, 'The request has no body; 2 values are not valid.'],
    ['no byte in chunks', Line, { headers: chunked }, 'The request has no body; 2 values are not valid.'],
    ['JSON null', Line, { json: null }, 'The body is null; 2 values are not valid.'],
    ['no body for a list', list(Line), {}, 'The request has no body; one value is not valid.'],
    ['null for a list', list(Line), { json: null }, 'The body is null; one value is not valid.'],
    ['no text', class extends dto({ text: plainText() }) {}, {}, 'The request has no body; one value is not valid.'],
    [
      'no value that the body must have',
      class extends dto({ a: field(int, { required: false, jsonRequired: true }) }) {},
      {},
      'The request has no body; one value is not valid.',
    ],
  ])('%s', async (_what, Dto, sent, detail) => {
    const { status, problem } = await bind(Dto, sent);
    expect([status, problem?.detail]).toEqual([400, detail]);
  });

  it.each<[string, AnyType, Sent]>([
    ['the values of a GET are in its query', Line, { method: 'GET' }],
    ['an empty object is a body', Line, { json: {} }],
    [
      'only values outside of the body are missing',
      class extends dto({ a: queryParam(int), b: fromHeader(int), note: optional(string) }) {},
      {},
    ],
  ])('but not where %s', async (_what, Dto, sent) => {
    const { status, problem } = await bind(Dto, sent);
    expect([status, problem?.detail]).toEqual([400, '2 values are not valid.']);
  });
});

it('a missing value is reported in the source that this client would have used', async () => {
  class Wanted extends dto({ v: string }) {}
  const missing = async (sent: Parameters<typeof bind>[1]) =>
    (await bind(Wanted, sent, urlEncoded)).errors.map(({ name, in: source }) => [name, source]);
  expect(await missing({ method: 'GET' })).toEqual([['v', 'query']]);
  expect(await missing({ method: 'POST' })).toEqual([['v', 'json']]);
  expect(await missing({ form: 'w=1' })).toEqual([['v', 'form']]);
  expect(await missing({ multipart: 'w=1' })).toEqual([['v', 'form']]);
});

it('a value is quoted as JSON: it cannot break out of its quotes', async () => {
  expect((await bind(Line, { json: { sku: 'a', quantity: 'a" \n<b>\u0000' } })).errors[0]?.detail).toBe(
    'The value "a\\" \\n<b>\\u0000" is not a whole number from -2147483648 to 2147483647.',
  );
});

it.each<[string, AnyType, Sent, string]>([
  ['int', int, { path: '/?v=x' }, 'The value "x" is not a whole number from -2147483648 to 2147483647.'],
  ['guid', guid, { path: '/?v=x' }, 'The value "x" is not a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.'],
  ['bool', bool, { json: { v: 1 } }, 'The value 1 is not true or false.'],
  ['double', double, { json: { v: true } }, 'The value true is not a number from -1.79e308 to 1.79e308.'],
  ['list of int', list(int), { json: { v: 1 } }, 'The value 1 is not a JSON array.'],
  ['int', int, { path: '/?v=1&v=2' }, 'There are 2 values where one is expected.'],
])(
  'a failure describes the value for clients; failureMessage gets the type, %s',
  async (type, declared, sent, text) => {
    const facts: unknown[] = [];
    const failureMessage = ({ expected }: BindingFailure): undefined => void facts.push(expected);
    const { errors } = await bind(class Query extends dto({ v: declared }) {}, sent, { failureMessage });
    expect([errors.map(({ detail }) => detail), facts]).toEqual([[text], [type]]);
  },
);
