import * as v from 'valibot';
import {
  dto,
  fromBody,
  fromClaim,
  fromCookie,
  fromHeader,
  fromQuery,
  int,
  list,
  queryParam,
  serializerContext,
  type BindingFailure,
} from '../../../lib';
import { type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

const SECRET = 'hunter2';
const schema = v.object({ nested: v.record(v.string(), v.number()) });
class Claimed extends dto({
  age: fromClaim(int),
  ages: fromClaim(list(int)),
  profile: fromClaim(schema),
  visits: fromCookie(int),
  seen: fromCookie(v.picklist(['a'])),
  Authorization: fromHeader(int),
  proxy: fromHeader(int, { name: 'Proxy-Authorization' }),
  cookie: fromHeader(int),
  apiKey: fromHeader(int, { name: 'X-Api-Key' }),
  csrf: fromHeader(v.number(), { name: 'X-CSRF-Token' }),
}) {}
const secrets: Sent = {
  headers: {
    Authorization: SECRET,
    'Proxy-Authorization': SECRET,
    Cookie: `visits=${SECRET}; seen=${SECRET}`,
    'X-Api-Key': SECRET,
    'X-CSRF-Token': SECRET,
  },
};
const user = { age: SECRET, ages: ['1', SECRET], profile: { nested: { key: SECRET } } };

it('values that the client did not send, or must not see again, are not quoted: claims, cookies, credential headers', async () => {
  const facts: BindingFailure[] = [];
  const { errors, response } = await bind(Claimed, secrets, {
    user,
    failureMessage(failure) {
      facts.push(failure);
      return undefined;
    },
  });
  expect(errors.map(({ name, detail }) => [name, detail])).toEqual([
    ['age', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['ages[1]', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['profile', 'The value is not valid.'],
    ['Authorization', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['Proxy-Authorization', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['cookie', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['X-Api-Key', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['X-CSRF-Token', 'The value is not valid.'],
    ['visits', 'The value is not a whole number from -2147483648 to 2147483647.'],
    ['seen', 'The value is not valid.'],
  ]);
  expect([response.text, JSON.stringify(facts)].join()).not.toContain(SECRET);
  expect(facts.every(failure => !('value' in failure))).toBe(true);
});

it.each([
  ['', {}],
  [', and quoteValues: false makes no difference', { quoteValues: false }],
])('the keys of a record are content, too; an index is not%s', async (_what, options) => {
  class Caller extends dto({
    accounts: fromClaim(v.record(v.string(), v.number())),
    teams: fromClaim(v.array(v.record(v.string(), v.number()))),
    Token: fromHeader(v.record(v.string(), v.number())),
  }) {}
  const closed = { [SECRET]: 'closed' };
  const { errors, response } = await bind(
    Caller,
    { headers: { Token: JSON.stringify(closed) } },
    { user: { accounts: closed, teams: [{}, closed] }, ...options },
  );
  expect(errors).toEqual([
    { name: 'accounts', in: 'claim', pointer: '', detail: 'The value is not valid.' },
    { name: 'teams[1]', in: 'claim', pointer: '/1', detail: 'The value is not valid.' },
    { name: 'Token', in: 'header', detail: 'The value is not valid.' },
  ]);
  expect(response.text).not.toContain(SECRET);
});

it('quoteValues: false quotes nothing at all', async () => {
  class Sent extends dto({
    body: fromBody(list(int)),
    page: queryParam(int),
    many: queryParam(list(int)),
    schema: queryParam(v.number()),
    filter: fromQuery(dto({ n: int })),
    tenant: fromHeader(int),
  }) {}
  const facts: BindingFailure[] = [];
  const { errors, response } = await bind(
    Sent,
    {
      path: `/?page=${SECRET}&many=1,${SECRET}&many2=1&schema=${SECRET}&n=${SECRET}`,
      json: [1, SECRET, { a: SECRET }],
      headers: { tenant: SECRET },
    },
    {
      quoteValues: false,
      failureMessage(failure) {
        facts.push(failure);
        return undefined;
      },
    },
  );
  expect([errors.length, response.text.includes(SECRET), JSON.stringify(facts).includes(SECRET)]).toEqual([
    7,
    false,
    false,
  ]);
});

describe('a body that is not JSON', () => {
  class Card extends dto({ pin: int }) {}

  it.each<[string, string, string]>([
    ['a word', `{"pin":${SECRET}}`, 'The body is not valid JSON: line 1, column 8.'],
    ['the second line', `{"pin":1,\n ${SECRET}}`, 'The body is not valid JSON: line 2, column 2.'],
    ['its end', `{"pin":"${SECRET}`, 'The body is not valid JSON: line 1, column 16.'],
    [
      'the second of two values of one name',
      `{"a":1,"a":2,${SECRET}}`,
      'The body is ambiguous: an object has one name with two different values, the second at line 1, column 12. ' +
        'Send each name once.',
    ],
    ['after its end', `{"pin":1} ${SECRET}`, 'The body is not valid JSON: line 1, column 11.'],
  ])('is not repeated; the answer says where it is wrong: %s', async (_where, body, detail) => {
    const { problem, response } = await bind(Card, { json: body });
    expect([problem?.detail, response.text.includes(SECRET)]).toEqual([detail, false]);
    await expect(serializerContext({ request: Card }).read(body)).rejects.toThrow(detail.replace('body', 'text'));
  });
});

it('no browser takes a problem for anything else', async () => {
  expect((await bind(class One extends dto({ n: int }) {})).response.headers['x-content-type-options']).toBe('nosniff');
});
