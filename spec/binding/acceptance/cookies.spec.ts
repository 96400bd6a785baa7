import cookieParser from 'cookie-parser';
import type { RequestHandler } from 'express';
import { bindRequest, dto, fromCookie, int, list, string, type AnyType } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind, outcome } from '../../support/one-endpoint';

const loose = { required: false } as const;
class Session extends dto({
  sid: fromCookie(string, { name: '__Host-sid' }),
  visits: fromCookie(int, loose),
  seen: fromCookie(list(int), loose),
}) {}
const MISSING = 'cookie __Host-sid: This cookie is missing from the request.';

it.each<[string, string, unknown]>([
  ['exact names, decoded', 'Visits=1; visits=2; __Host-sid=a%20b; seen=1,2', { sid: 'a b', visits: 2, seen: [1, 2] }],
  ['nothing', '', [MISSING]],
  ['another case', '__host-sid=a', [MISSING]],
  ['separators', ';;;=', [MISSING]],
  ['names of objects', '__proto__=a; constructor=b', [MISSING]],
  [
    'an unreadable value, which is not repeated',
    '__Host-sid=a; visits=x',
    ['cookie visits: The value is not a whole number from -2147483648 to 2147483647.'],
  ],
])('cookies are read by their names: %s', async (_what, Cookie, expected) => {
  expect(await outcome(Session, { headers: { Cookie } })).toEqual(expected);
});

it('a required cookie comes from nowhere else; one that is not required falls back', async () => {
  const elsewhere = { json: { sid: 'x' }, path: '/?sid=x&__Host-sid=x', headers: { sid: 'x' } };
  expect(await outcome(Session, elsewhere)).toEqual([MISSING]);
  const bound = { sid: 'a', visits: 3 };
  expect(await outcome(Session, { path: '/?visits=3', headers: { Cookie: '__Host-sid=a' } })).toEqual(bound);
});

it.each([
  ['"a%20b"', '"a b"'],
  ['"a', '"a'],
  ['a"b"', 'a"b"'],
  ['%22a%22', '"a"'],
  ['%E0%A4', '%E0%A4'],
  ['j:', 'j:'],
  ['\xc3\xbc', 'ü'],
  ['\xfc', '\xfc'],
])('the cookie %j is the text %j', async (sent, text) => {
  expect(await outcome(dto({ c: fromCookie(string) }), { headers: { Cookie: `a=1; c=${sent}` } })).toEqual({ c: text });
});

class Box extends dto({ city: string, floors: list(int) }) {}
const values: readonly [what: string, type: AnyType, value: unknown, expected?: unknown][] = [
  ['text', string, 'ü, "b"; c=%41'],
  ['text that looks like JSON', string, 'j:x'],
  ['a number', int, 7],
  ['an object', Box, { city: 'Oslo', floors: [1, 2] }],
  ['an object for a text', string, { a: 1 }, '{"a":1}'],
  ['a list', list(string), ['a', 'b,c']],
];
const rows = expressVersions.flatMap(([version, express]) => values.map(row => ({ version, express, row })));

it.each(rows)('$row.0 that res.cookie() has written is read, signed or not ($version)', async ({ express, row }) => {
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
});

describe('a signed cookie', () => {
  class Signed extends dto({ user: fromCookie(string, { signed: true }) }) {}
  class Optional extends dto({ user: fromCookie(string, { signed: true, required: false }) }) {}
  const before = [cookieParser('secret')];
  const forged = { Cookie: `user=s:admin.${'x'.repeat(43)}` };

  it.each<[string, Sent]>([
    ['that is missing', {}],
    ['whose signature is wrong', { headers: forged }],
    ['that is not signed', { headers: { Cookie: 'user=admin' } }],
    ['that the query has', { path: '/?user=admin' }],
    ['that the body has', { json: { user: 'admin' } }],
  ])('%s is missing, and comes from nowhere else', async (_what, sent) => {
    expect(await outcome(Signed, sent, { before })).toEqual(['cookie user: This cookie is missing from the request.']);
    expect(await outcome(Optional, sent, { before })).toEqual({});
  });

  it('that nothing has verified is an error that says what to mount', async () => {
    const { status, response } = await bind(Signed, { headers: forged });
    expect([status, response.text]).toEqual([500, expect.stringContaining('Mount cookieParser(secret)')]);
  });
});
