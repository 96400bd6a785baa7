import express, { type Express, type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, configure, dto, fromBody, fromHeader, hasPermission, idempotency, int, list } from '../../../lib';
import { optional, plainText, queryParam, RequestBinder, routeParam, string } from '../../../lib';
import type { AnyType, Binder, BinderContext, BindingOptions, ProblemError } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Order extends dto({ sku: string, quantity: queryParam(int, { default: 1 }) }) {}
class Customer extends dto({ name: string }) {}
const ada: Sent = { json: { name: 'Ada' } };

const answering: RequestHandler = (req, res) => {
  res.json(req.dto);
};
const post = async (app: Express, path: string, json: unknown): Promise<unknown> =>
  (await ask(app, { path, json })).body;

/** A binder of the application's own that binds nothing: it says what it was made for. */
class Naming implements Binder<{ type: string }> {
  constructor(private readonly Dto: AnyType) {}

  bind(context: BinderContext): { type: string } {
    const name = (this.Dto as { name?: string }).name ?? 'list';
    return { type: `${name}${context.Dto === this.Dto ? '' : ' of another'}` };
  }
}

it.each(expressVersions)(
  'a global binder makes the dtos of all endpoints, but where one names its own (%s)',
  async (_version, framework) => {
    const configured = configure({ binding: { binder: Dto => new Naming(Dto) } });
    const app = framework()
      .post('/orders', configured.bindRequest(Order), answering)
      .post('/many', configured.bindRequest(list(Customer)), answering);
    app.post('/own', configured.bindRequest(Customer, { binder: new RequestBinder() }), answering);
    app.post('/plain', bindRequest(Customer), answering);
    const answers = await Promise.all(['/orders', '/many', '/own', '/plain'].map(path => post(app, path, ada.json)));
    expect(answers).toEqual([{ type: 'Order' }, { type: 'list' }, { name: 'Ada' }, { name: 'Ada' }]);
  },
);

const binder: Binder<Customer> = {
  bind: ({ req }) => Object.assign(new Customer(), { name: `${req.get('X-Vat')}` }),
};
const later: Binder<Customer> = { bind: async (context, signal) => binder.bind(context, signal) };
/** What a binder derived from the built-in one adds: the VAT number of the customer. */
class Derived extends RequestBinder<Customer> {
  override async bind(context: BinderContext<Customer>, signal: AbortSignal): Promise<Customer> {
    const customer = await super.bind(context, signal);
    return Object.assign(customer, { name: `${customer.name} (${context.req.get('X-Vat')})` });
  }
}

it.each<[string, BindingOptions['binder'] & object, name: string]>([
  ['an object', binder, 'DE1'],
  ['a function that makes one', () => binder, 'DE1'],
  ['asynchronous', later, 'DE1'],
  ['one derived from RequestBinder, which adds to what that has bound', new Derived(), 'Ada (DE1)'],
])('the binder of an endpoint makes the dto: %s', async (_what, given, name) => {
  for (const [, framework] of expressVersions) {
    const { dto: bound } = await bind(Customer, { ...ada, headers: { 'X-Vat': 'DE1' } }, { binder: given, framework });
    expect([bound, bound instanceof Customer]).toEqual([{ name }, true]);
  }
});

describe.each(expressVersions)('a request that a binder or a modifier has answered (%s)', (_version, framework) => {
  const deny = ({ res }: BinderContext): Customer => {
    res.status(403).end('denied');
    return new Customer();
  };
  const late = async (context: BinderContext): Promise<Customer> => {
    deny(context);
    await new Promise(setImmediate);
    return undefined as never;
  };

  it.each<[string, BindingOptions]>([
    ['a binder that returns a dto', { binder: { bind: deny } }],
    ['a binder that waits, and has answered by then', { binder: { bind: late } }],
    ['a modifier', { modifier: (_dto, _Dto, context) => void deny(context) }],
  ])('has that answer, and reaches no handler: %s', async (_what, options) => {
    const modified = jest.fn();
    const { status, response, dto: bound } = await bind(Customer, ada, { framework, modifier: modified, ...options });
    expect([status, response.text, bound, modified.mock.calls]).toEqual([403, 'denied', undefined, []]);
  });
});

describe.each(expressVersions)('a binding modifier (%s)', (_version, framework) => {
  it('is global, runs after the binder of each endpoint, and gets the dto, its type, the context and a signal', async () => {
    const calls: unknown[][] = [];
    const modifier: BindingOptions['modifier'] = (bound, Dto, { Dto: own, req, failures }, signal) => {
      calls.push([Dto, own, req.path, failures, signal instanceof AbortSignal && !signal.aborted]);
      Object.assign(bound as object, { stamp: calls.length });
    };
    const configured = configure({ binding: { modifier } });
    const own = { binder: { bind: () => Object.assign(new Order(), { sku: 'own' }) } };
    const app = framework()
      .post('/customers', configured.bindRequest(Customer), answering)
      .post('/plain', bindRequest(Customer), answering);
    app.post('/own', configured.bindRequest(Order, own), answering);
    expect(await post(app, '/customers', { name: 'Ada' })).toEqual({ name: 'Ada', stamp: 1 });
    expect(await post(app, '/own', {})).toEqual({ sku: 'own', quantity: 1, stamp: 2 });
    expect(await post(app, '/plain', { name: 'Eve' })).toEqual({ name: 'Eve' });
    expect(calls).toEqual([
      [Customer, Customer, '/customers', [], true],
      [Order, Order, '/own', [], true],
    ]);
  });

  const failing: Binder<Customer> = {
    bind: context => {
      context.fail('name', 'No.');
      return new Customer();
    },
  };

  it.each<[string, BindingOptions]>([
    ['the built-in binder', {}],
    ['a derived one', { binder: new Derived() }],
    ["one of the application's own", { binder: failing }],
  ])('does not run when binding has failed: %s', async (_what, options) => {
    const modifier = jest.fn();
    expect((await bind(Customer, { json: {} }, { ...options, modifier, framework })).status).toBe(400);
    expect(modifier).not.toHaveBeenCalled();
  });
});

/** The ways in which an application's own code takes part, each calling `work` with the context. */
type Work = (context: BinderContext<never>) => unknown;
const deriving = (before: Work, after: Work): BindingOptions => ({
  binder: new (class extends RequestBinder<never> {
    override async bind(context: BinderContext<never>, signal: AbortSignal) {
      await before(context);
      const dto = await super.bind(context, signal);
      await after(context);
      return dto;
    }
  })(),
});
const nothing: Work = () => undefined;
const overriding: readonly (readonly [string, (work: Work) => BindingOptions])[] = [
  ['a binder derived from RequestBinder, before super.bind', work => deriving(work, nothing)],
  ['a binder derived from RequestBinder, after super.bind', work => deriving(nothing, work)],
  ['a modifier', work => ({ modifier: (_dto, _Dto, context) => work(context as never) as Promise<void> })],
];
const crash: Work = () => {
  throw new Error('directory is down');
};

describe.each(overriding)('%s', (_what, optionsFor) => {
  it.each(expressVersions)(
    'that leaves failures behind is answered with 400, and the handler does not run (%s)',
    async (_version, framework) => {
      const options = optionsFor(context => {
        context.fail('name', 'The name is taken.');
        context.fail('basket', 'It is empty.', 'cookie');
      });
      const { status, problem, dto: bound } = await bind(Customer, ada, { ...options, framework });
      expect([status, bound, problem?.type]).toEqual([400, undefined, 'urn:bindonce:validation-failed']);
      expect(problem?.errors).toEqual([
        { name: 'name', in: 'json', pointer: '/name', detail: 'The name is taken.' },
        { name: 'basket', in: 'cookie', detail: 'It is empty.' },
      ]);
    },
  );

  it('that throws or rejects leaves it to Express', async () => {
    for (const [, framework] of expressVersions)
      for (const fail of [crash, () => Promise.reject(new Error('directory is down'))]) {
        const { status, response, dto: bound } = await bind(Customer, ada, { ...optionsFor(fail), framework });
        expect([status, response.text, bound]).toEqual([500, 'directory is down', undefined]);
      }
  });

  it('behind idempotency(), keeps the key usable when it refuses or fails', async () => {
    const refuse: Work = context => context.fail('name', 'Not yet.');
    for (const [fail, status] of [
      [refuse, 400],
      [crash, 500],
    ] as const) {
      let [asked, runs] = [0, 0];
      const work: Work = context => ++asked < 3 && fail(context);
      const app = express().set('env', 'test');
      app.post('/', idempotency({ store: new Keyv() }), bindRequest(Customer, optionsFor(work)), (_req, res) => {
        res.status(201).json(++runs);
      });
      const statuses: number[] = [];
      for (let time = 0; time < 4; time++) statuses.push((await ask(app, { ...ada, key: 'k' })).status);
      expect([statuses, runs]).toEqual([[status, status, 201, 201], 1]);
    }
  });
});

describe('context.fail', () => {
  class Everything extends dto({
    id: routeParam(int),
    page: queryParam(int, { bindFrom: 'p' }),
    tenant: fromHeader(string, { name: 'X-Tenant' }),
    note: optional(string),
  }) {}
  class Whole extends dto({ line: fromBody(Customer), page: queryParam(int, { required: false }) }) {}
  class Text extends dto({ text: plainText() }) {}
  const everything: Sent = { path: '/7?p=1', headers: { 'X-Tenant': 'acme' } };

  it.each<[string, AnyType, Sent, string, Partial<ProblemError>, ProblemError['in']?]>([
    ['a route parameter', Everything, everything, 'id', { name: 'id', in: 'route' }],
    ['a renamed query parameter', Everything, everything, 'page', { name: 'p', in: 'query' }],
    ['a header', Everything, everything, 'tenant', { name: 'X-Tenant', in: 'header' }],
    ['a bare property', Everything, everything, 'note', { name: 'note', in: 'json', pointer: '/note' }],
    ['the whole body', Whole, ada, 'line', { name: 'line', in: 'json', pointer: '' }],
    ['the text', Text, { body: 'x' }, 'text', { name: 'text', in: 'body' }],
    ['no property', Everything, everything, 'basket', { name: 'basket', in: 'body' }],
    ['where it says', Everything, everything, 'session', { name: 'session', in: 'cookie' }, 'cookie'],
  ])(
    'reports under the name and the source that the client knows: %s',
    async (...[, Dto, sent, name, error, where]) => {
      const modifier: BindingOptions['modifier'] = (_dto, _Dto, context) => context.fail(name, 'No.', where);
      expect((await bind(Dto, sent, { modifier, route: '/{:id}' })).errors).toEqual([{ ...error, detail: 'No.' }]);
    },
  );

  it('counts like the failures of RequestBinder that a binder leaves behind', async () => {
    class May extends dto({ write: hasPermission('orders:write'), note: optional(string) }) {}
    class Catching extends RequestBinder<May> {
      override async bind(context: BinderContext<May>, signal: AbortSignal): Promise<May> {
        const bound = await super.bind(context, signal).catch(() => new May());
        context.fail('note', 'No.');
        return bound;
      }
    }
    const { status, errors } = await bind(May, { json: {} }, { binder: new Catching() });
    expect([status, errors.map(({ name }) => name)]).toEqual([400, ['orders:write', 'note']]);
  });
});
