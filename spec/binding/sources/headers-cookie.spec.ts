import { dto, fromCookie, int, list, string } from '../../../lib';
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
