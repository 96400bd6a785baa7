import { z } from 'zod';
import { dateTime, dto, enumOf, field, fromClaim, fromHeader, guid, int, list, long, nullable } from '../../../lib';
import { string } from '../../../lib';
import type { AnyType, Claims, Property } from '../../../lib';
import { bind, failures, outcome } from '../../support/one-endpoint';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
class Address extends dto({ street: string, floor: int }) {}
const HOME = { street: 'Main, 1', floor: 2 };
const WORK = { street: 'Side', floor: 0 };
const BOTH = [HOME, WORK];
const json = (value: unknown): string => JSON.stringify(value);

/** A value that a client or a caller gives as this: text, or several. */
const sources = [
  ['claim', fromClaim, (v: unknown) => [{}, { user: { v } }] as const],
  ['header', fromHeader, (v: unknown) => [{ headers: { v: v as string } }, {}] as const],
] as const;

describe.each(sources)('one %s is', (source, declare, by) => {
  it.each<[string, AnyType, unknown, unknown]>([
    ['an empty text', string, '', ''],
    ['a collection by several', list(int), ['3', '1', '2'], [3, 1, 2]],
    ['a collection by several, commas and all', list(string), ['a,b', 'c'], ['a,b', 'c']],
    ['a collection of one', list(string), 'a', ['a']],
    ['a collection by one comma-separated value', list(int), '1,2', [1, 2]],
    ['enums by one comma-separated value', list(enumOf(['x', 'y'])), 'X,y', ['x', 'y']],
    ['a JSON object', Address, json(HOME), HOME],
    ['a JSON array of scalars', list(int), '[1, 2]', [1, 2]],
    ['a JSON array of texts with commas', list(string), '["a,b","c"]', ['a,b', 'c']],
    ['a JSON array of objects', list(Address), json(BOTH), BOTH],
    ['a JSON array of objects without brackets', list(Address), json(BOTH).slice(1, -1), BOTH],
    ['objects by several', list(Address), BOTH.map(json), BOTH],
    ['a JSON array of nothing', list(Address), '[]', []],
  ])('%s', async (_what, type, value, expected) => {
    const [sent, options] = by(value);
    const { dto: bound } = await bind(dto({ v: declare(type) }), sent, options);
    expect(bound).toEqual({ v: expected });
    if (type === Address) expect(bound?.v).toBeInstanceOf(Address);
  });

  it.each<[string, AnyType, unknown, string, string | undefined]>([
    ['text', int, 'x', '', undefined],
    ['several for a scalar', int, ['1', '2'], '', undefined],
    ['one item', list(int), '1,x', '[1]', undefined],
    ['a field of an object', Address, '{"street":"a","floor":"x"}', '.floor', '/floor'],
    ['a field of an item', list(Address), json([HOME, { street: 'a' }]), '[1].floor', '/1/floor'],
    ['broken JSON', Address, '{"street":', '', undefined],
  ])('a failure under its name where it cannot be read: %s', async (_what, type, value, below, pointer) => {
    const [sent, options] = by(value);
    const { status, errors } = await bind(dto({ own: declare(type, { name: 'v' }) }), sent, options);
    const [error, ...more] = errors;
    expect([status, error?.name, error?.in, error?.pointer, more]).toEqual([400, `v${below}`, source, pointer, []]);
  });

  it('required: missing, it is a validation error, whatever else is sent', async () => {
    const Required = dto({ tier: declare(string, { name: 'plan' }), level: declare(int, { required: true }) });
    const missing =
      source === 'claim' ? 'The caller does not have this claim.' : 'This header is missing from the request.';
    const sent = { path: '/?tier=gold&level=1&plan=gold', headers: { Cookie: 'plan=gold; level=1' } };
    const callers: (Claims | undefined)[] = [
      undefined,
      { sub: 'a' },
      ...(source === 'claim' ? [{ plan: null, level: null }] : []),
    ];
    for (const user of callers) {
      const expected = [`${source} plan: ${missing}`, `${source} level: ${missing}`];
      expect(await outcome(Required, sent, user && { user })).toEqual(expected);
    }
  });
});

it('a header that is comma-separated is trimmed, a claim is not', async () => {
  class Both extends dto({ h: fromHeader(list(string)), c: fromClaim(list(string)) }) {}
  const bound = { h: ['a', 'b', 'c'], c: ['a', ' b ', 'c'] };
  expect(await outcome(Both, { headers: { h: 'a, b ,c' } }, { user: { c: 'a, b ,c' } })).toEqual(bound);
});

it('the name of a claim or a header is that of its property, or the option name, in any case', async () => {
  class Caller extends dto({
    department: fromClaim(string),
    userId: fromClaim(guid, { name: 'sub' }),
    org: fromClaim(int, { name: 'https://shop.example/Org' }),
    tenant: fromHeader(string, { name: 'X-Tenant' }),
  }) {}
  const user = { Department: 'tea', SUB: ID, 'https://shop.example/org': 7, userId: 'not this one' };
  const bound = { department: 'tea', userId: ID, org: 7, tenant: 'acme' };
  expect(await outcome(Caller, { headers: { 'x-tenant': 'acme', tenant: 'no' } }, { user })).toEqual(bound);
});

describe('headers', () => {
  it('sent twice are no scalar, though node keeps only the first of some', async () => {
    class Once extends dto({ length: fromHeader(int, { name: 'Max-Forwards' }) }) {}
    expect(await outcome(Once, { headers: { 'Max-Forwards': ['1', '2'] } })).toEqual([
      'header Max-Forwards: There are 2 values where one is expected.',
    ]);
  });

  it.each([
    ['\xc3\xbc', 'ü'],
    ['\xf0\x9f\x92\xb6 \xc3\xbc', '💶 ü'],
    ['\xfc', '\xfc'],
    ['\xc3\xbc\xfc', '\xc3\xbc\xfc'],
  ])('with the bytes %j are %j: UTF-8 where it is that, else Latin-1', async (sent, text) => {
    const headers = { 'X-Name': [sent, 'b'], one: sent };
    class Named extends dto({ one: fromHeader(string), names: fromHeader(list(string), { name: 'X-Name' }) }) {}
    expect(await outcome(Named, { headers })).toEqual({ one: text, names: [text, 'b'] });
  });
});

it("claims can be the getters of a user's class, but not the members of every object", async () => {
  class Odd extends dto({ sub: fromClaim(guid), made: fromClaim(string, { name: 'constructor' }) }) {}
  const user = Object.create({
    get sub() {
      return ID;
    },
  }) as Claims;
  expect(await outcome(dto({ sub: fromClaim(guid) }), {}, { claims: () => user })).toEqual({ sub: ID });
  expect(await failures(Odd, {}, { claims: () => user })).toEqual(['claim constructor']);
});

describe('a claim that is an array is its elements', () => {
  it.each<[string, AnyType, unknown, unknown]>([
    ['one group with a comma', list(string), ['guests,admin'], ['guests,admin']],
    ['one text that is a JSON array', list(string), ['["a","b"]'], ['["a","b"]']],
    ['one text in braces', list(string), ['{a},{b}'], ['{a},{b}']],
    ['one empty text', list(string), [''], ['']],
    ['no element', list(string), [], []],
    ['numbers and text', list(int), [1, '2'], [1, 2]],
    ['a list of lists, whose one element is one text', list(list(string)), ['a,b'], [['a', 'b']]],
    ['a schema', z.array(z.string()), ['guests,admin'], ['guests,admin']],
    ['a list of schemas', list(z.string()), ['guests,admin'], ['guests,admin']],
    ['one element for a scalar', int, ['7'], 7],
    ['one object', Address, [HOME], HOME],
    ['objects, as they are in a token', list(Address), BOTH, BOTH],
    ['one number that a parser may have rounded elsewhere', long, [1234567890123456], 1234567890123456n],
    ['one Date', dateTime, [new Date(0)], new Date(0)],
    ['one object that is text in JSON', string, [{ toJSON: () => 'a1' }], 'a1'],
  ])('%s', async (_what, type, v, expected) => {
    expect(await outcome(dto({ v: fromClaim(type) }), {}, { user: { v } })).toEqual({ v: expected });
  });

  it.each<[string, AnyType, unknown]>([
    ['null', list(string), [null]],
    ['null beside a text', list(string), ['a', null]],
    ['one number with a comma', list(int), ['1,2']],
  ])('refused: %s', async (_what, type, v) => {
    expect((await bind(dto({ v: fromClaim(type) }), {}, { user: { v } })).status).toBe(400);
  });
});

it('a claim that is an empty array is missing, and no value that the client sends replaces it', async () => {
  class Loose extends dto({
    v: fromClaim(string, { required: false }),
    all: fromClaim(list(string)),
    any: fromClaim(z.any()),
  }) {}
  const sent = { path: '/?v=forged' };
  expect(await outcome(Loose, sent, { user: { v: [], all: [], any: [] } })).toEqual({ all: [], any: [] });
  expect(await outcome(dto({ v: fromClaim(string) }), sent, { user: { v: [] } })).toEqual([
    'claim v: The caller does not have this claim.',
  ]);
});

const loose = { required: false } as const;
const later = z.string().transform(async () => Promise.resolve(undefined));

it.each<[string, Property<unknown>, unknown]>([
  ['undefined by a schema', fromClaim(z.enum(['a']).optional().catch(undefined), loose), 'user'],
  ['undefined later', fromClaim(later, loose), 'user'],
  ['empty', fromClaim(int, loose), ''],
  ['null, where the type takes it', fromClaim(nullable(int), loose), null],
])('a claim that the caller has is not replaced by what the client sends: %s', async (_how, property, role) => {
  for (const forged of ['a', 9]) {
    const bound = await outcome(
      dto({ role: property, x: field(int, loose) }),
      { json: { role: forged } },
      { user: { role } },
    );
    expect(bound).not.toMatchObject({ role: forged });
  }
});
