import {
  bool,
  dto,
  enumOf,
  field,
  fromHeader,
  guid,
  int,
  list,
  string,
  type AnyType,
  bindRequest,
  fromCookie,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { type Sent, ask } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import cookieParser from 'cookie-parser';
import type { RequestHandler } from 'express';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Address extends dto({ street: string, floor: int }) {}

const HOME = { street: 'Main, 1', floor: 2 };
const WORK = { street: 'Side', floor: 0 };
const json = (value: unknown): string => JSON.stringify(value);

describe('fromHeader binds a header by its name', () => {
  const inHeader = async (type: AnyType, lines: string | readonly string[]): Promise<unknown> => {
    class Request extends dto({ v: fromHeader(type, { name: 'X-Value' }) }) {}
    const { status, dto: bound } = await bind(Request, { headers: { 'x-value': lines } });
    return status === 200 ? bound?.v : status;
  };

  it.each<[string, string, AnyType, unknown]>([
    ['a, b', 'string', string, 'a, b'],
    ['', 'string', string, ''],
    ['-7', 'int', int, -7],
    ['TRUE', 'bool', bool, true],
    [ID.toUpperCase(), 'guid', guid, ID],
    ['GOLD', 'enum', enumOf(['gold', 'silver']), 'gold'],
  ])('a scalar: "%s" as %s', async (value, _name, type, expected) => {
    expect(await inHeader(type, value)).toEqual(expected);
  });

  it.each<[string, AnyType, string | readonly string[], unknown]>([
    ['a repeated header', list(int), ['3', '1', '2'], [3, 1, 2]],
    ['one comma-separated value, trimmed', list(int), '1, 2 ,3', [1, 2, 3]],
    ['one value', list(string), 'a', ['a']],
    ['a repeated header, commas and all', list(string), ['a,b', 'c'], ['a,b', 'c']],
    ['comma-separated enums', list(enumOf(['x', 'y'])), 'X, y', ['x', 'y']],
  ])('a collection: %s', async (_shape, type, lines, expected) => {
    expect(await inHeader(type, lines)).toEqual(expected);
  });

  it('a JSON object is an instance', async () => {
    const address = await inHeader(Address, json(HOME));
    expect(address).toEqual(HOME);
    expect(address).toBeInstanceOf(Address);
  });

  it.each<[string, AnyType, string | readonly string[], unknown]>([
    ['of scalars', list(int), '[1, 2]', [1, 2]],
    ['of texts with commas', list(string), '["a,b","c"]', ['a,b', 'c']],
    ['of objects', list(Address), json([HOME, WORK]), [HOME, WORK]],
    ['of objects, without brackets', list(Address), `${json(HOME)},${json(WORK)}`, [HOME, WORK]],
    ['of objects, one in each line', list(Address), [json(HOME), json(WORK)], [HOME, WORK]],
    ['of nothing', list(int), '[]', []],
  ])('a JSON array %s', async (_what, type, lines, expected) => {
    expect(await inHeader(type, lines)).toEqual(expected);
  });

  it.each<[string, AnyType, string | readonly string[], string, string | undefined]>([
    ['text', int, 'x', 'X-Value', undefined],
    ['two lines for a scalar', int, ['1', '2'], 'X-Value', undefined],
    ['one item', list(int), '1,x', 'X-Value[1]', undefined],
    ['broken JSON', Address, '{"street":', 'X-Value', undefined],
    ['a field of an object', Address, '{"street":"a","floor":"x"}', 'X-Value.floor', '/floor'],
    ['a field of an item', list(Address), json([HOME, { street: 'a' }]), 'X-Value[1].floor', '/1/floor'],
  ])('an unreadable value is a failure under the header name: %s', async (_what, type, lines, name, pointer) => {
    class Request extends dto({ own: fromHeader(type, { name: 'X-Value' }) }) {}
    const {
      status,
      errors: [error, ...more],
    } = await bind(Request, { headers: { 'x-value': lines } });
    expect([status, error?.name, error?.in, error?.pointer, more]).toEqual([400, name, 'header', pointer, []]);
  });
});

describe('a missing header', () => {
  class Required extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant' }),
    level: fromHeader(int, { required: true }),
  }) {}

  it.each(expressVersions)('is a validation error while it is required (%s)', async (_version, framework) => {
    const {
      status,
      problem,
      dto: bound,
    } = await bind(
      Required,
      { path: '/?tenant=a&X-Tenant=a&level=1', headers: { Cookie: 'tenant=a; level=1' } },
      { framework },
    );
    expect([status, bound, problem?.type]).toEqual([400, undefined, 'urn:bindonce:validation-failed']);
    expect(problem?.errors).toEqual(
      ['X-Tenant', 'level'].map(name => ({ name, in: 'header', detail: 'This header is missing from the request.' })),
    );
  });

  class Loose extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    note: field(string, { required: false }),
  }) {}

  const inJson: Sent = { json: { tenant: 'json', 'X-Tenant': 'no' } };
  const inForm: Sent = {
    form: 'tenant=form&X-Tenant=no',
  };
  const sent: readonly [string, Sent, string | undefined][] = [
    ['nothing', {}, undefined],
    ['the JSON body', inJson, 'json'],
    ['a form', inForm, 'form'],
    ['the route over the JSON body', { ...inJson, path: '/route' }, 'route'],
    ['the route over a form', { ...inForm, path: '/route' }, 'route'],
    ['the query over all', { ...inJson, path: '/route?tenant=query&X-Tenant=no' }, 'query'],
    ['no cookie', { headers: { Cookie: 'tenant=no; X-Tenant=no' } }, undefined],
  ];
  const options = { ...urlEncoded, route: '/{:tenant}', user: { tenant: 'no', 'X-Tenant': 'no' } } as const;
  const withHeader = (request: Sent): Sent => ({ ...request, headers: { ...request.headers, 'X-Tenant': 'header' } });

  it.each(sent)(
    'lets the handler run while it is not required, with the value of %s',
    async (_source, request, value) => {
      expect(await bind(Loose, request, options)).toMatchObject({
        status: 200,
        dto: value === undefined ? {} : { tenant: value },
      });
      expect((await bind(Loose, withHeader(request), options)).dto?.tenant).toBe('header');
    },
  );
});

class Session extends dto({
  sid: fromCookie(string, { name: '__Host-sid' }),
  visits: fromCookie(int, { required: false }),
  seen: fromCookie(list(int), { required: false }),
}) {}

it('cookies are read by their exact names and decoded', async () => {
  expect((await bind(Session, { headers: { Cookie: 'Visits=1; visits=2; __Host-sid=a%20b; seen=1,2' } })).dto).toEqual({
    sid: 'a b',
    visits: 2,
    seen: [1, 2],
  });
});

it('a cookie need not be encoded: what cannot be decoded is its text', async () => {
  expect((await bind(Session, { headers: { Cookie: '__Host-sid=%E0%A4' } })).dto).toEqual({ sid: '%E0%A4' });
});

it.each([
  [{}],
  [{ Cookie: '' }],
  [{ Cookie: '__host-sid=a' }],
  [{ Cookie: ';;;=' }],
  [{ Cookie: '__proto__=a; constructor=b' }],
])('a missing cookie is reported under its name: %j', async headers => {
  const { status, errors } = await bind(Session, { headers });
  expect({ status, errors }).toEqual({
    status: 400,
    errors: [{ name: '__Host-sid', in: 'cookie', detail: 'This cookie is missing from the request.' }],
  });
});

it('an unreadable cookie is a failure', async () => {
  expect((await bind(Session, { headers: { Cookie: '__Host-sid=a; visits=x' } })).errors).toEqual([
    { name: 'visits', in: 'cookie', detail: 'The value is not a whole number from -2147483648 to 2147483647.' },
  ]);
});

it('a required cookie comes from nowhere else; one that is not required falls back', async () => {
  expect(
    (await bind(Session, { json: { sid: 'x' }, path: '/?sid=x&__Host-sid=x', headers: { sid: 'x' } })).status,
  ).toBe(400);
  expect((await bind(Session, { path: '/?visits=3', headers: { Cookie: '__Host-sid=a' } })).dto).toEqual({
    sid: 'a',
    visits: 3,
  });
});

class Box extends dto({ city: string, floors: list(int) }) {}

describe.each(expressVersions)('%s', (_version, express) => {
  const values: [what: string, type: AnyType, value: unknown, expected?: unknown][] = [
    ['text', string, 'ü, "b"; c=%41'],
    ['text that looks like JSON', string, 'j:x'],
    ['a number', int, 7],
    ['an object', Box, { city: 'Oslo', floors: [1, 2] }],
    ['an object for a text', string, { a: 1 }, '{"a":1}'],
    ['a list', list(string), ['a', 'b,c']],
  ];

  it.each(values.map(row => ({ row })))(
    '$row.0 that res.cookie() has written is read, signed or not',
    async ({ row }) => {
      const [, type, value, expected = value] = row;
      const app = express().use(cookieParser('secret'));
      app.post('/set', (_req, res) => {
        res.cookie('plain', value).cookie('signed', value, { signed: true }).end();
      });
      class Both extends dto({ plain: fromCookie(type), signed: fromCookie(type, { signed: true }) }) {}
      app.post('/', bindRequest(Both) as RequestHandler, (req, res) => {
        res.json(req.dto);
      });
      const lines = (await ask(app, { path: '/set' })).get('Set-Cookie') ?? [];
      const headers = { Cookie: lines.map(line => line.split(';')[0]).join('; ') };
      expect((await ask(app, { headers })).body).toEqual({ plain: expected, signed: expected });
    },
  );
});

it.each([
  ['"a b"', 'a b'],
  ['"a%20b"', 'a b'],
  ['""', ''],
  ['"', '"'],
  ['"a', '"a'],
  ['a"b"', 'a"b"'],
  ['%22a%22', '"a"'],
  ['j:"a"', 'a'],
  ['j:{', 'j:{'],
  ['j:', 'j:'],
  ['\xc3\xbc', 'ü'],
  ['\xfc', '\xfc'],
])('the cookie %j is the text %j', async (sent, text) => {
  class Plain extends dto({ c: fromCookie(string) }) {}
  expect((await bind(Plain, { headers: { Cookie: `a=1; c=${sent}` } })).dto).toEqual({ c: text });
});

describe('a signed cookie', () => {
  class Signed extends dto({ user: fromCookie(string, { signed: true }) }) {}
  class Optional extends dto({ user: fromCookie(string, { signed: true, required: false }) }) {}
  const before = [cookieParser('secret')];
  const forged = { Cookie: `user=s:admin.${'x'.repeat(43)}` };

  it.each<[string, { headers?: Record<string, string>; path?: string; json?: unknown }]>([
    ['that is missing', {}],
    ['whose signature is wrong', { headers: forged }],
    ['that is not signed', { headers: { Cookie: 'user=admin' } }],
    ['that the query has', { path: '/?user=admin' }],
    ['that the body has', { json: { user: 'admin' } }],
  ])('%s is missing, and comes from nowhere else', async (_what, sent) => {
    expect((await bind(Signed, sent, { before })).errors).toEqual([
      { name: 'user', in: 'cookie', detail: 'This cookie is missing from the request.' },
    ]);
    expect((await bind(Optional, sent, { before })).dto).toEqual({});
  });

  it('that nothing has verified is an error that says what to mount', async () => {
    const { status, response } = await bind(Signed, { headers: forged });
    expect([status, response.text]).toEqual([500, expect.stringContaining('Mount cookieParser(secret)')]);
  });
});
