import cookieParser from 'cookie-parser';
import { type RequestHandler } from 'express';
import { bindRequest, dto, fromCookie, int, list, string, type AnyType } from '../../../lib';
import { ask } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

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
