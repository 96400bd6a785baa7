import express, { type Request, type RequestHandler, type Response } from 'express';
import {
  bindRequest,
  configure,
  decimal,
  dto,
  field,
  file,
  fromBody,
  fromClaim,
  fromCookie,
  fromHeader,
  int,
  jsonField,
  list,
  optional,
  plainText,
  string,
  type AnyType,
  type BindingOptions,
} from '../../../lib';
import { ask, problemIn, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Bare extends dto({ amount: decimal, currency: string }) {}
class BareDecorated {
  @field(decimal) amount!: unknown;
  @field(string) currency!: string;
}
class InShape extends dto({ amount: jsonField(decimal), currency: jsonField(string) }) {}
class Decorated {
  @jsonField(decimal) amount!: unknown;
  @jsonField(string) currency!: string;
}

const bodyOnly = { fieldSources: ['json'], fallback: false } satisfies BindingOptions;
const configured = configure({ binding: bodyOnly });

/** The ways to say that a payment comes from the JSON body. Forms are accepted, so that nothing else refuses them. */
const endpoints: [string, RequestHandler][] = [
  ['jsonField in dto({...})', bindRequest(InShape, urlEncoded)],
  ['jsonField as a decorator', bindRequest(Decorated, urlEncoded)],
  ['fieldSources of the endpoint', bindRequest(Bare, { ...urlEncoded, fieldSources: ['json'] })],
  ['fieldSources of the endpoint, with decorators', bindRequest(BareDecorated, { ...urlEncoded, ...bodyOnly })],
  ['fieldSources of configure()', configured.bindRequest(Bare, urlEncoded)],
];

/** Sends a payment. Returns its status, and what is charged, or where which values are missing. */
async function pay(middleware: RequestHandler, sent: Sent): Promise<unknown[]> {
  const app = express().post('/{:amount}', middleware, (req: Request, res: Response) => {
    const { amount, currency } = req.dto as { amount: unknown; currency: string };
    res.json(`${String(amount)} ${currency}`);
  });
  const response = await ask(app, sent);
  const errors = problemIn(response)?.errors?.map(({ name, in: source }) => `${source} ${name}`);
  return [response.status, errors ?? (response.status === 200 ? response.body : undefined)];
}

const body = { json: { amount: 12.5, currency: 'EUR' } };
const theirs = 'amount=9999.99&currency=USD';
const elsewhere = { amount: '9999.99', currency: 'USD' };

describe.each(endpoints)('with %s', (_how, middleware) => {
  it.each<[string, Sent]>([
    ['the query', { ...body, path: `/?${theirs}` }],
    ['the query, in another case', { ...body, path: '/?AMOUNT=9999.99&Currency=USD' }],
    ['the query, several times', { ...body, path: `/?${theirs}&amount[]=1&${theirs}` }],
    ['the route', { ...body, path: '/9999.99' }],
    ['headers and cookies', { ...body, headers: { ...elsewhere, Cookie: 'amount=9999.99; currency=USD' } }],
  ])('%s does not change what the JSON body says', async (_where, sent) => {
    expect(await pay(middleware, sent)).toEqual([200, '12.5 EUR']);
  });

  it.each<[string, Sent]>([
    ['the URL alone', { path: `/9999.99?${theirs}` }],
    ['the URL, with an empty JSON object', { path: `/?${theirs}`, json: {} }],
    ['the URL, with an empty form of another site', { path: `/?${theirs}`, form: '' }],
    ['the URL, with an empty text', { path: `/?${theirs}`, headers: { 'Content-Type': 'text/plain' }, body: '' }],
  ])('a whole payment in %s is refused', async (_where, sent) => {
    expect(await pay(middleware, sent)).toEqual([400, ['json amount', 'json currency']]);
  });

  it.each<[string, Sent]>([
    ['an urlencoded form', { form: theirs }],
    ['a multipart form', { multipart: Object.entries(elsewhere) }],
    ['a form, and in the URL', { path: `/9999.99?${theirs}`, form: theirs }],
  ])('a whole payment in %s is refused', async (_where, sent) => {
    expect(await pay(middleware, sent)).toEqual([415, undefined]);
  });
});

it('by default, a bare type is taken from the query, which overwrites the body', async () => {
  const middleware = bindRequest(Bare);
  expect(await pay(middleware, { ...body, path: `/?${theirs}` })).toEqual([200, '9999.99 USD']);
  expect(await pay(middleware, { path: `/?${theirs}`, form: '' })).toEqual([200, '9999.99 USD']);
});

describe('in a nested dto', () => {
  class Line extends dto({ sku: string, price: jsonField(decimal) }) {}
  class Order extends dto({ lines: list(Line) }) {}
  class BareLine extends dto({ sku: string, price: int }) {}
  class BareOrder extends dto({ lines: list(BareLine), first: BareLine }) {}
  const path = '/?lines=[{"sku":"tea","price":1}]&first={"sku":"tea","price":1}&first.price=1&lines[0].price=1';
  const line = { sku: 'tea', price: 450 };

  it('jsonField is not taken from JSON text in the query', async () => {
    const { status, errors } = await bind(Order, { path, json: { lines: [line] } });
    expect([status, errors.map(({ name, in: source }) => `${source} ${name}`)]).toEqual([
      400,
      ['query lines[0].price'],
    ]);
    expect((await bind(Order, { json: { lines: [line] } })).dto?.lines[0]?.price.toNumber()).toBe(450);
  });

  it('fieldSources of the request says where the whole object comes from', async () => {
    const { dto: order } = await bind(BareOrder, { path, json: { lines: [line], first: line } }, bodyOnly);
    expect(order).toEqual({ lines: [line], first: line });
  });
});

describe('fieldSources', () => {
  class Note extends dto({ v: optional(string) }) {}
  const from = {
    json: { path: '/route?v=query', json: { v: 'json' } },
    form: { path: '/route?v=query', form: 'v=form' },
  };
  const options = { ...urlEncoded, route: '/{:v}' };

  it.each<[NonNullable<BindingOptions['fieldSources']>, string, string | number]>([
    [['json', 'form'], 'json', 'form'],
    [['form', 'json'], 'json', 'form'],
    [['query', 'json'], 'query', 415],
    [['json', 'form', 'route'], 'route', 'route'],
    [['json', 'form', 'route', 'query'], 'query', 'query'],
  ])('%j binds from these alone, in the order of the sources', async (fieldSources, ofJson, ofForm) => {
    expect((await bind(Note, from.json, { ...options, fieldSources })).dto?.v).toBe(ofJson);
    const { status, dto: note } = await bind(Note, from.form, { ...options, fieldSources });
    expect(note?.v ?? status).toBe(ofForm);
  });

  it.each<[string, unknown]>([
    ['no source', []],
    ['one twice', ['json', 'json']],
    ['one that a bare type does not have', ['json', 'header']],
    ['an unknown one', ['body']],
    ['text', 'json'],
  ])('with %s is refused when the middleware is made', (_what, fieldSources) => {
    const options = { fieldSources } as BindingOptions;
    const message = 'fieldSources must be an array of one or more of json, form, route, query, each once';
    expect(() => bindRequest(Note, options)).toThrow(message);
    expect(() => configure({ binding: options })).toThrow(message);
    expect(() => configured.bindRequest(Note, options)).toThrow(message);
  });

  it.each<[string, () => AnyType]>([
    ['whose only source is blocked', () => class Order extends dto({ rush: field(int, { dontBind: ['json'] }) }) {}],
    [
      'that may be missing, and whose only source is blocked',
      () => class Order extends dto({ rush: field(int, { dontBind: ['json'], required: false }) }) {},
    ],
    ['that is a file', () => class Order extends dto({ rush: optional(file) }) {}],
    ['beside fromBody', () => class Order extends dto({ rush: optional(int), whole: fromBody(Bare) }) {}],
    [
      'of JSON beside fromBody',
      () => class Order extends dto({ rush: jsonField(optional(int)), b: fromBody(Bare) }) {},
    ],
    ['of JSON beside plainText', () => class Order extends dto({ rush: jsonField(optional(int)), b: plainText() }) {}],
    ['of JSON that is a file', () => class Order extends dto({ rush: jsonField(optional(file)) }) {}],
  ])('that leaves no source to a property %s is refused, and the property is named', (_what, declare) => {
    expect(() => bindRequest(declare(), { ...bodyOnly, allowFormData: true })).toThrow(/Order\.rush/);
  });
});

describe('fallback', () => {
  class Caller extends dto({
    tenant: fromHeader(string, { required: false }),
    sub: fromClaim(string, { required: false }),
    session: fromCookie(string, { required: false }),
    open: fromHeader(string, { required: false, fallback: true }),
    closed: fromHeader(string, { required: false, fallback: false }),
    note: optional(string),
  }) {}
  const forged = { tenant: 'x', sub: 'x', session: 'x', open: 'x', closed: 'x' };
  const query = `/?${new URLSearchParams(forged).toString()}`;
  const notations = [['dto({...})', Caller]] as const;

  describe.each(notations)('in %s', (_notation, Dto) => {
    it.each<[string, Sent]>([
      ['the query', { path: query }],
      ['the JSON body', { json: forged }],
      ['a form', { form: Object.entries(forged) }],
    ])(
      'false: what a client sends in %s is nobody, unless the declaration has fallback: true',
      async (_where, sent) => {
        expect((await bind<AnyType>(Dto, sent, { ...urlEncoded, fallback: false })).dto).toEqual({ open: 'x' });
      },
    );

    it('true, the default: the query stands in, unless the declaration has fallback: false', async () => {
      const others = { tenant: 'x', sub: 'x', session: 'x', open: 'x' };
      expect((await bind<AnyType>(Dto, { path: query })).dto).toEqual(others);
      expect((await bind<AnyType>(Dto, { path: query }, { fallback: true })).dto).toEqual(others);
    });
  });

  it('of configure() holds for all endpoints that do not say', async () => {
    const outcome = async (middleware: RequestHandler): Promise<unknown> => {
      const app = express().get('/', middleware, (req, res) => void res.json(req.dto));
      return (await ask(app, { method: 'GET', path: query })).body;
    };
    expect(await outcome(configured.bindRequest(Caller))).toEqual({ open: 'x' });
    expect(await outcome(configured.bindRequest(Caller, { fallback: true }))).toMatchObject({ tenant: 'x', sub: 'x' });
  });
});
