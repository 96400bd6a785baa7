import * as v from 'valibot';
import { z } from 'zod';
import { bool, double, dto, field, fromBody, fromClaim, fromCookie, fromHeader, fromQuery, guid } from '../../../lib';
import { hasPermission, int, list, optional, plainText, queryParam, routeParam, serializerContext } from '../../../lib';
import { string } from '../../../lib';
import type { AnyType, BindingFailure, BindingOptions } from '../../../lib';
import type { Sent } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind, failures, urlEncoded } from '../../support/one-endpoint';

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
const noInt = (text: string): string => `The value${text} is not a whole number from -2147483648 to 2147483647.`;
const noUuid = 'The value "nonsense" is not a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.';

describe.each(expressVersions)('%s', (_name, framework) => {
  it('every failure of every source is in one answer, each under the name it was looked up under', async () => {
    const sent: Sent = {
      path: '/nonsense?page=x&IS_RUSH=maybe&secret=hunter2',
      json: { lines: [{ sku: 'a', quantity: 1 }, { quantity: 'x' }], remark: 7 },
      headers: { Cookie: 'visits=x' },
    };
    const options = { framework, route: '/:orderid', user: { sub: 'x' } };
    const { status, problem, response, dto: bound } = await bind(Everything, sent, options);
    expect([status, bound]).toEqual([400, undefined]);
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      // No browser takes a problem for anything else.
      'x-content-type-options': 'nosniff',
    });
    expect(problem).toEqual({
      type: 'urn:bindonce:validation-failed',
      title: 'One or more values are not valid',
      status: 400,
      detail: '10 values are not valid.',
      instance: '/nonsense',
      errors: [
        { name: 'lines[1].sku', in: 'json', pointer: '/lines/1/sku', detail: 'A value is required.' },
        { name: 'lines[1].quantity', in: 'json', pointer: '/lines/1/quantity', detail: noInt(' "x"') },
        { name: 'remark', in: 'json', pointer: '/remark', detail: 'The value 7 is not a string.' },
        { name: 'orderId', in: 'route', detail: noUuid },
        { name: 'page', in: 'query', detail: noInt(' "x"') },
        { name: 'is_rush', in: 'query', detail: 'The value "maybe" is not true or false.' },
        { name: 'sub', in: 'claim', detail: noInt('') },
        { name: 'visits', in: 'cookie', detail: noInt('') },
        { name: 'orders:write', in: 'permission', detail: 'The caller does not have this permission.' },
        { name: 'X-Tenant', in: 'header', detail: 'This header is missing from the request.' },
      ],
    });
  });

  it('no stack trace, no file name, no query is in it', async () => {
    const sent = { path: '/x?secret=hunter2', json: '{"a":' };
    const { response } = await bind(Everything, sent, { framework, route: '/:orderId' });
    expect(response.text).not.toMatch(/hunter2|node_modules|\.[jt]s\b|\n\s+at /);
  });
});

describe('the detail counts what is listed:', () => {
  const numbers = z.array(z.number());
  it.each<[string, AnyType, unknown, limit: number | undefined, detail: string]>([
    ['one', Line, { sku: 1, quantity: 1 }, undefined, 'One value is not valid.'],
    ['two', Line, { sku: 1 }, undefined, '2 values are not valid.'],
    ['a list that is cut', list(int), Array(900).fill('x'), 100, 'At least 100 values are not valid.'],
    ['a list that has room for all', list(int), Array(100).fill('x'), 100, '100 values are not valid.'],
    ['the issues of a schema, cut', numbers, ['x', 'x', 'x'], 2, 'At least 2 values are not valid.'],
    ['as many issues as are listed', numbers, ['x', 'x'], 2, '2 values are not valid.'],
    ['a list of one', Line, {}, 1, 'At least one value is not valid.'],
  ])('%s', async (_what, Dto, json, limit, detail) => {
    const { problem } = await bind(Dto, { json }, limit === undefined ? {} : { limits: { failures: limit } });
    expect([limit ?? problem?.errors?.length, problem?.detail]).toEqual([problem?.errors?.length, detail]);
  });
});

describe('the detail says that there is no body, if a value is missing in it:', () => {
  const chunked = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const [NONE, NULL] = ['The request has no body; ', 'The body is null; '];
  const [one, two] = ['one value is not valid.', '2 values are not valid.'];
  const elsewhere = { a: queryParam(int), b: fromHeader(int), note: optional(string) };

  it.each<[string, AnyType, Sent, string]>([
    ['no body', Line, {}, NONE + two],
    ['no byte in chunks', Line, { headers: chunked }, NONE + two],
    ['JSON null', Line, { json: null }, NULL + two],
    ['no body for a list', list(Line), {}, NONE + one],
    ['null for a list', list(Line), { json: null }, NULL + one],
    ['no text', dto({ text: plainText() }), {}, NONE + one],
    ['jsonRequired', dto({ a: field(int, { required: false, jsonRequired: true }) }), {}, NONE + one],
    ['not where the values of a GET are in its query', Line, { method: 'GET' }, two],
    ['not where an empty object is the body', Line, { json: {} }, two],
    ['not where only values outside of the body are missing', dto(elsewhere), {}, two],
  ])('%s', async (_what, Dto, sent, detail) => {
    expect((await bind(Dto, sent)).problem).toMatchObject({ status: 400, detail });
  });
});

it('a missing value is reported in the source that this client would have used', async () => {
  const missing = (sent: Sent) => failures(dto({ v: string }), sent);
  const sent: Sent[] = [{ method: 'GET' }, { method: 'POST' }, { form: 'w=1' }, { multipart: 'w=1' }];
  expect(await Promise.all(sent.map(missing))).toEqual([['query v'], ['json v'], ['form v'], ['form v']]);
});

it('a value is quoted as JSON: it cannot break out of its quotes', async () => {
  const { errors } = await bind(Line, { json: { sku: 'a', quantity: 'a" \n<b>\u0000' } });
  expect(errors[0]?.detail).toBe(noInt(' "a\\" \\n<b>\\u0000"'));
});

it.each<[AnyType, Sent, string]>([
  [int, { path: '/?v=x' }, noInt(' "x"')],
  [guid, { path: '/?v=nonsense' }, noUuid],
  [bool, { json: { v: 1 } }, 'The value 1 is not true or false.'],
  [double, { json: { v: true } }, 'The value true is not a number from -1.79e308 to 1.79e308.'],
  [list(int), { json: { v: 1 } }, 'The value 1 is not a JSON array.'],
  [int, { path: '/?v=1&v=2' }, 'There are 2 values where one is expected.'],
])('%#: a failure describes the value for clients', async (type, sent, text) => {
  const { errors } = await bind(dto({ v: type }), sent, urlEncoded);
  expect(errors.map(({ detail }) => detail)).toEqual([text]);
});

describe('a secret is not quoted, neither in the answer nor in what failureMessage gets:', () => {
  const SECRET = 'hunter2';
  const closed = v.record(v.string(), v.number());
  class Claimed extends dto({
    age: fromClaim(int),
    ages: fromClaim(list(int)),
    profile: fromClaim(v.object({ nested: closed })),
    // The keys of a record are content, too; an index is not.
    accounts: fromClaim(closed),
    teams: fromClaim(v.array(closed)),
    visits: fromCookie(int),
    seen: fromCookie(v.picklist(['a'])),
    Authorization: fromHeader(int),
    proxy: fromHeader(int, { name: 'Proxy-Authorization' }),
    cookie: fromHeader(int),
    apiKey: fromHeader(int, { name: 'X-Api-Key' }),
    csrf: fromHeader(v.number(), { name: 'X-CSRF-Token' }),
    Token: fromHeader(closed),
  }) {}
  const credentials = ['Authorization', 'Proxy-Authorization', 'X-Api-Key', 'X-CSRF-Token'];
  const keyed = { [SECRET]: 'closed' };
  const secrets: Sent = {
    headers: {
      ...Object.fromEntries(credentials.map(name => [name, SECRET])),
      ...{ Cookie: `visits=${SECRET}; seen=${SECRET}`, Token: JSON.stringify(keyed) },
    },
  };
  const user = {
    ...{ age: SECRET, ages: ['1', SECRET], profile: { nested: { key: SECRET } } },
    ...{ accounts: keyed, teams: [{}, keyed] },
  };
  class Plain extends dto({
    body: fromBody(list(int)),
    page: queryParam(int),
    many: queryParam(list(int)),
    schema: queryParam(v.number()),
    filter: fromQuery(dto({ n: int })),
    tenant: fromHeader(int),
  }) {}
  const plain: Sent = {
    path: `/?page=${SECRET}&many=1,${SECRET}&many2=1&schema=${SECRET}&n=${SECRET}`,
    json: [1, SECRET, { a: SECRET }],
    headers: { tenant: SECRET },
  };
  const [noInt0, invalid] = [noInt(''), 'The value is not valid.'];
  const claims = { age: noInt0, 'ages[1]': noInt0, profile: invalid, accounts: invalid, 'teams[1]': invalid };
  const cookies = { visits: noInt0, seen: invalid };
  const headers = { Authorization: noInt0, 'Proxy-Authorization': noInt0, cookie: noInt0, 'X-Api-Key': noInt0 };
  const all = { ...claims, ...headers, 'X-CSRF-Token': invalid, Token: invalid, ...cookies };

  it.each<[string, AnyType, Sent, BindingOptions, names: object | number]>([
    ['claims, cookies, credential headers', Claimed, secrets, {}, all],
    ['the same with quoteValues: false', Claimed, secrets, { quoteValues: false }, all],
    ['any value, with quoteValues: false', Plain, plain, { quoteValues: false }, 7],
  ])('%s', async (_what, Dto, sent, options, expected) => {
    const facts: BindingFailure[] = [];
    const failureMessage = (failure: BindingFailure): undefined => void facts.push(failure);
    const { errors, response } = await bind(Dto, sent, { ...options, user, failureMessage });
    const details = Object.fromEntries(errors.map(({ name, detail }) => [name, detail]));
    expect(typeof expected === 'number' ? errors.length : details).toEqual(expected);
    expect([response.text, JSON.stringify(facts)].join()).not.toContain(SECRET);
  });

  it.each([
    ['a word', `{"pin":${SECRET}}`, 'The body is not valid JSON: line 1, column 8.'],
    ['the second line', `{"pin":1,\n ${SECRET}}`, 'The body is not valid JSON: line 2, column 2.'],
    ['its end', `{"pin":"${SECRET}`, 'The body is not valid JSON: line 1, column 16.'],
    ['after its end', `{"pin":1} ${SECRET}`, 'The body is not valid JSON: line 1, column 11.'],
    ['the second of two values', `{"a":1,"a":2,${SECRET}}`, 'two different values, the second at line 1, column 12.'],
  ])('a body that is not JSON, of which the answer says where it is wrong: %s', async (_where, body, detail) => {
    const Card = dto({ pin: int });
    const { problem, response } = await bind(Card, { json: body });
    expect([problem?.detail, response.text.includes(SECRET)]).toEqual([expect.stringContaining(detail), false]);
    const inText = detail.replace('body', 'text');
    await expect(serializerContext({ request: Card }).read(body)).rejects.toThrow(inText);
  });
});
