import { bind, failures, outcome, urlEncoded } from '../../support/one-endpoint';
import { configure, dto, fromClaim, fromCookie, fromHeader, int, jsonField, list, optional } from '../../../lib';
import { string } from '../../../lib';
import type { AnyType, BindingOptions } from '../../../lib';
import type { Sent } from '../../support/ask';

class Bare extends dto({ amount: int, currency: string }) {}
class InShape extends dto({ amount: jsonField(int), currency: jsonField(string) }) {}
const bodyOnly = { fieldSources: ['json'], fallback: false } satisfies BindingOptions;
const route = '/{:amount}';

/** The ways to say that a payment comes from the JSON body. Forms are accepted, so that nothing else refuses them. */
describe.each<[string, AnyType, BindingOptions]>([
  ['jsonField in dto({...})', InShape, {}],
  ['fieldSources of the endpoint', Bare, bodyOnly],
])('with %s', (_how, Dto, options) => {
  const body = { json: { amount: 12, currency: 'EUR' } };
  const theirs = 'amount=9999&currency=USD';
  const elsewhere = { amount: '9999', currency: 'USD' };

  it.each<[string, Sent]>([
    ['the query', { ...body, path: `/?${theirs}` }],
    ['the query, in another case', { ...body, path: '/?AMOUNT=9999&Currency=USD' }],
    ['the query, several times', { ...body, path: `/?${theirs}&amount[]=1&${theirs}` }],
    ['the route', { ...body, path: '/9999' }],
    ['headers and cookies', { ...body, headers: { ...elsewhere, Cookie: 'amount=9999; currency=USD' } }],
  ])('%s does not change what the JSON body says', async (_where, sent) => {
    expect(await outcome(Dto, sent, { route, ...options })).toEqual(body.json);
  });

  it.each<[string, Sent, unknown]>([
    ['the URL alone', { path: `/9999?${theirs}` }, ['json amount', 'json currency']],
    ['the URL, of one value', { path: `/9999?${theirs}`, json: { currency: 'EUR' } }, ['json amount']],
    ['a form', { path: `/9999?${theirs}`, form: theirs }, []],
  ])('%s is not enough', async (_where, sent, missing) => {
    expect(await failures(Dto, sent, { route, ...options })).toEqual(missing);
    expect((await bind(Dto, sent, { ...urlEncoded, route, ...options })).dto).toBeUndefined();
  });
});

describe('below JSON text', () => {
  class Line extends dto({ sku: string, price: jsonField(int) }) {}
  class Order extends dto({ lines: list(Line), first: optional(Line) }) {}
  class BareOrder extends dto({ lines: list(Bare), first: optional(Bare) }) {}
  const path = '/?lines=[{"sku":"tea","price":1}]&first={"sku":"tea","price":1}&first.price=1&lines[0].price=1';
  const line = { sku: 'tea', price: 450 };

  it('jsonField is not taken from JSON text in the query', async () => {
    expect(await failures(Order, { path, json: { lines: [line] } })).toEqual([
      'query first.price',
      'query lines[0].price',
    ]);
    expect(await outcome(Order, { json: { lines: [line] } })).toEqual({ lines: [line] });
  });

  it('fieldSources of the request says where the whole object comes from', async () => {
    const json = { lines: [{ amount: 1, currency: 'EUR' }] };
    expect(await outcome(BareOrder, { path: '/?lines=[{"amount":9,"currency":"USD"}]', json }, bodyOnly)).toEqual(json);
  });
});

describe('fieldSources', () => {
  class Note extends dto({ v: optional(string) }) {}

  it.each<[NonNullable<BindingOptions['fieldSources']>, string, unknown]>([
    [['json', 'form'], 'json', { v: 'form' }],
    [['form', 'json'], 'json', { v: 'form' }],
    [['query', 'json'], 'query', 415],
    [['json', 'form', 'route'], 'route', { v: 'route' }],
    [['json', 'form', 'route', 'query'], 'query', { v: 'query' }],
  ])('%j binds from these alone, in the order of the sources', async (fieldSources, ofJson, ofForm) => {
    const options = { route: '/{:v}', fieldSources };
    const path = '/route?v=query';
    expect(await outcome(Note, { path, json: { v: 'json' } }, options)).toEqual({ v: ofJson });
    expect(await outcome(Note, { path, form: 'v=form' }, options)).toEqual(ofForm);
  });
});

describe('fallback', () => {
  const loose = { required: false } as const;
  class Caller extends dto({
    tenant: fromHeader(string, loose),
    sub: fromClaim(string, loose),
    session: fromCookie(string, loose),
    open: fromHeader(string, { ...loose, fallback: true }),
    closed: fromHeader(string, { ...loose, fallback: false }),
    note: optional(string),
  }) {}
  const forged = { tenant: 'x', sub: 'x', session: 'x', open: 'x', closed: 'x' };
  const path = `/?${new URLSearchParams(forged).toString()}`;

  it.each<[string, Sent]>([
    ['the query', { path }],
    ['the JSON body', { json: forged }],
    ['a form', { form: Object.entries(forged) }],
  ])('false: what a client sends in %s is nobody, unless the declaration has fallback: true', async (_where, sent) => {
    expect(await outcome(Caller, sent, { fallback: false })).toEqual({ open: 'x' });
    const others = { tenant: 'x', sub: 'x', session: 'x', open: 'x' };
    for (const options of [{}, { fallback: true }]) expect(await outcome(Caller, sent, options)).toEqual(others);
  });
});

it('fieldSources and fallback of configure() hold for all endpoints that do not say', async () => {
  const configured = configure({ binding: bodyOnly });
  class Paid extends dto({ amount: optional(int), tenant: fromHeader(string, { required: false }) }) {}
  const middleware = [configured.bindRequest(Paid), configured.bindRequest(Paid, { fallback: true })];
  const bound: unknown[] = [];
  for (const one of middleware) {
    const before = [one, (req: { dto?: unknown }, _res: unknown, next: () => void) => (bound.push(req.dto), next())];
    await bind(dto({ note: optional(string) }), { path: '/?amount=1&tenant=x' }, { before: before as never });
  }
  expect(bound).toEqual([{}, { tenant: 'x' }]);
});
