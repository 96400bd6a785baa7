import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import {
  bindRequest,
  configure,
  dto,
  fromBody,
  fromHeader,
  hasPermission,
  idempotency,
  int,
  list,
  optional,
  plainText,
  queryParam,
  RequestBinder,
  routeParam,
  string,
  type AnyType,
  type Binder,
  type BinderContext,
  type BindingOptions,
  type ProblemError,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Order extends dto({ sku: string, quantity: queryParam(int, { default: 1 }) }) {}
class Customer extends dto({ name: string }) {}

const answering: RequestHandler = (req, res) => {
  res.json(req.dto);
};

const post = async (app: Express, path: string, json: unknown): Promise<unknown> =>
  (await ask(app, { path, json })).body;

/** A binder of the application's own that binds nothing: it says what it was made for. */
class Naming implements Binder<{ type: string }> {
  constructor(private readonly Dto: AnyType) {}

  bind(context: BinderContext): { type: string } {
    return {
      type: `${(this.Dto as { name?: string }).name ?? 'list'}${context.Dto === this.Dto ? '' : ' of another'}`,
    };
  }
}

describe.each(expressVersions)('a global binder (%s)', (_version, framework) => {
  it('makes the dtos of all endpoints, except where one names its own', async () => {
    const configured = configure({ binding: { binder: Dto => new Naming(Dto) } });
    const app = framework()
      .post('/orders', configured.bindRequest(Order), answering)
      .post('/customers', configured.bindRequest(Customer), answering)
      .post('/many', configured.bindRequest(list(Customer)), answering);
    app
      .post('/own', configured.bindRequest(Customer, { binder: new RequestBinder() }), answering)
      .post('/plain', bindRequest(Customer), answering);
    const paths = ['/orders', '/customers', '/many', '/own', '/plain'];
    const answers = await Promise.all(paths.map(path => post(app, path, { name: 'Ada' })));
    expect(answers).toEqual([
      { type: 'Order' },
      { type: 'Customer' },
      { type: 'list' },
      { name: 'Ada' },
      { name: 'Ada' },
    ]);
  });
});

describe('the binder of an endpoint', () => {
  const binder: Binder<Customer> = {
    bind: ({ req }) => Object.assign(new Customer(), { name: req.get('X-Name') ?? 'nobody' }),
  };

  it.each<[string, BindingOptions['binder']]>([
    ['an object', binder],
    ['a function that makes one', () => binder],
    [
      'asynchronous',
      { bind: async context => binder.bind(context as BinderContext<Customer>, new AbortController().signal) },
    ],
  ])('makes the dto: %s', async (_what, given) => {
    const { dto: bound } = await bind(
      Customer,
      { headers: { 'X-Name': 'Ada' }, json: { name: 7 } },
      { ...(given && { binder: given }) },
    );
    expect(bound).toEqual({ name: 'Ada' });
    expect(bound).toBeInstanceOf(Customer);
  });

  it.each<[string, unknown]>([
    ['for a class, pass an instance', RequestBinder],
    ['for a class, pass an instance', class {}],
    ['binder must be an object with a method bind(context, signal)', {}],
    ['the function in `binder` must return an object', () => undefined],
    ['the function in `binder` must return an object', () => Promise.resolve(binder)],
  ])('is checked when the middleware is made: %s', (message, given) => {
    expect(() => bindRequest(Customer, { binder: given as Binder<Customer> })).toThrow(message);
  });
});

/** What a binder derived from the built-in one adds: the VAT number of the customer, looked up by name. */
class Derived extends RequestBinder<Customer> {
  readonly after: unknown[] = [];

  override async bind(context: BinderContext<Customer>, signal: AbortSignal): Promise<Customer> {
    const customer = await super.bind(context, signal);
    this.after.push(customer);
    return Object.assign(customer, { name: `${customer.name} (${context.req.get('X-Vat') ?? 'private'})` });
  }
}

describe.each(expressVersions)('a binder derived from RequestBinder (%s)', (_version, framework) => {
  it('adds to the dto that the built-in one has bound', async () => {
    const { dto: bound } = await bind(
      Customer,
      { json: { name: 'Ada' }, headers: { 'X-Vat': 'DE1' } },
      { binder: new Derived(), framework },
    );
    expect(bound).toEqual({ name: 'Ada (DE1)' });
    expect(bound).toBeInstanceOf(Customer);
  });
});

describe.each(expressVersions)('a request that a binder or a modifier has answered (%s)', (_version, framework) => {
  const deny = ({ res }: BinderContext): void => {
    res.status(403).end('denied');
  };
  const own = (after: (context: BinderContext) => unknown): BindingOptions => ({
    binder: {
      bind: context => {
        deny(context);
        return after(context) as Customer;
      },
    },
  });
  const ways: readonly [string, BindingOptions][] = [
    ['a binder that returns a dto', own(() => new Customer())],
    [
      'a binder that waits, and has answered by then',
      own(async () => {
        await new Promise(setImmediate);
      }),
    ],
    ['a modifier', { modifier: (_dto, _Dto, context) => void deny(context) }],
  ];
  const endpoint = (options: BindingOptions, ...before: RequestHandler[]) => {
    const ran: string[] = [];
    const app = framework();
    const modifier: BindingOptions['modifier'] = () => void ran.push('modifier');
    app.post('/', ...before, bindRequest(Customer, { modifier, ...options }), (_req, res) => {
      ran.push('handler');
      res.end('ran');
    });
    app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
      ran.push(String(error));
      if (res.headersSent) next(error);
      else res.status(500).end();
    });
    return { app, ran };
  };

  it.each(ways)('has that answer, and reaches no handler: %s', async (_what, options) => {
    const { app, ran } = endpoint(options);
    const { status, text } = await ask(app, { json: { name: 'Ada' } });
    expect([status, text, ran]).toEqual([403, 'denied', []]);
  });
});

describe.each(expressVersions)('a binding modifier (%s)', (_version, framework) => {
  it('is global, runs after the binder of each endpoint, and gets the dto, its type, the context and a signal', async () => {
    const calls: unknown[][] = [];
    const configured = configure({
      binding: {
        modifier: (bound, Dto, context, signal) => {
          calls.push([
            Dto,
            context.Dto,
            context.req.path,
            context.failures,
            signal instanceof AbortSignal && !signal.aborted,
          ]);
          Object.assign(bound as object, { stamp: calls.length });
        },
      },
    });
    const app = framework()
      .post('/customers', configured.bindRequest(Customer), answering)
      .post('/plain', bindRequest(Customer), answering);
    app.post(
      '/own',
      configured.bindRequest(Order, { binder: { bind: () => Object.assign(new Order(), { sku: 'own' }) } }),
      answering,
    );
    const answers = [
      await post(app, '/customers', { name: 'Ada' }),
      await post(app, '/own', {}),
      await post(app, '/customers', { name: 'Bob' }),
      await post(app, '/plain', { name: 'Eve' }),
    ];
    expect(answers).toEqual([
      { name: 'Ada', stamp: 1 },
      { sku: 'own', quantity: 1, stamp: 2 },
      { name: 'Bob', stamp: 3 },
      { name: 'Eve' },
    ]);
    expect(calls).toEqual([
      [Customer, Customer, '/customers', [], true],
      [Order, Order, '/own', [], true],
      [Customer, Customer, '/customers', [], true],
    ]);
  });

  it.each<[string, BindingOptions['binder']]>([
    ['the built-in binder', undefined],
    ['a derived one', new Derived()],
    [
      "one of the application's own",
      {
        bind: context => {
          context.fail('name', 'No.');
          return new Customer();
        },
      },
    ],
  ])('does not run when binding has failed: %s', async (_what, binder) => {
    let runs = 0;
    const { status } = await bind(
      Customer,
      { json: {} },
      {
        ...(binder && { binder }),
        modifier: () => {
          runs++;
        },
        framework,
      },
    );
    expect([status, runs]).toEqual([400, 0]);
  });
});

/** The ways in which an application's own code takes part, each calling `work` with the context. */
type Work = (context: BinderContext<never>, signal: AbortSignal) => unknown;
const overriding: readonly (readonly [string, (work: Work) => BindingOptions])[] = [
  [
    'a binder derived from RequestBinder, before super.bind',
    work => ({
      binder: new (class extends RequestBinder<never> {
        override async bind(context: BinderContext<never>, signal: AbortSignal) {
          await work(context, signal);
          return super.bind(context, signal);
        }
      })(),
    }),
  ],
  [
    'a binder derived from RequestBinder, after super.bind',
    work => ({
      binder: new (class extends RequestBinder<never> {
        override async bind(context: BinderContext<never>, signal: AbortSignal) {
          const dto = await super.bind(context, signal);
          await work(context, signal);
          return dto;
        }
      })(),
    }),
  ],
  [
    'a modifier',
    work => ({
      modifier: (_dto, _Dto, context, signal) => work(context as BinderContext<never>, signal) as Promise<void>,
    }),
  ],
];

const ada: Sent = { json: { name: 'Ada' } };

describe.each(overriding)('%s', (_what, optionsFor) => {
  it.each(expressVersions)(
    'that leaves failures behind is answered with 400, and the handler does not run (%s)',
    async (_version, framework) => {
      const {
        status,
        problem,
        dto: bound,
      } = await bind(Customer, ada, {
        ...optionsFor(context => {
          context.fail('name', 'The name is taken.');
          context.fail('basket', 'It is empty.', 'cookie');
        }),
        framework,
      });
      expect([status, bound, problem?.type]).toEqual([400, undefined, 'urn:bindonce:validation-failed']);
      expect(problem?.errors).toEqual([
        { name: 'name', in: 'json', pointer: '/name', detail: 'The name is taken.' },
        { name: 'basket', in: 'cookie', detail: 'It is empty.' },
      ]);
    },
  );

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('directory is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('directory is down'))],
  ])('that %s leaves it to Express', async (_how, fail) => {
    for (const [, framework] of expressVersions) {
      const { status, response, dto: bound } = await bind(Customer, ada, { ...optionsFor(fail), framework });
      expect([status, response.text, bound]).toEqual([500, 'directory is down', undefined]);
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
  const failing = (name: string, where?: ProblemError['in']): BindingOptions => ({
    modifier: (_dto, _Dto, context) => {
      context.fail(name, 'No.', where);
    },
  });
  const everything: Sent = { path: '/7?p=1', headers: { 'X-Tenant': 'acme' } };

  it.each<[string, AnyType, Sent, BindingOptions, Partial<ProblemError>]>([
    ['a route parameter', Everything, everything, failing('id'), { name: 'id', in: 'route' }],
    ['a renamed query parameter', Everything, everything, failing('page'), { name: 'p', in: 'query' }],
    ['a header', Everything, everything, failing('tenant'), { name: 'X-Tenant', in: 'header' }],
    [
      'a property without an attribute',
      Everything,
      everything,
      failing('note'),
      { name: 'note', in: 'json', pointer: '/note' },
    ],
    ['the whole body', Whole, ada, failing('line'), { name: 'line', in: 'json', pointer: '' }],
    ['the text', Text, { body: 'x' }, failing('text'), { name: 'text', in: 'body' }],
    ['a name that is no property', Everything, everything, failing('basket'), { name: 'basket', in: 'body' }],
    [
      'where the application says',
      Everything,
      everything,
      failing('session', 'cookie'),
      { name: 'session', in: 'cookie' },
    ],
  ])('reports under the name and the source that the client knows: %s', async (_what, Dto, sent, options, error) => {
    expect((await bind(Dto, sent, { ...options, route: '/{:id}' })).errors).toEqual([{ ...error, detail: 'No.' }]);
  });

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

it.each(overriding)(
  'behind idempotency(), a refusal and an error keep the key usable: %s',
  async (_what, optionsFor) => {
    const refuse: Work = context => context.fail('name', 'Not yet.');
    const crash: Work = () => {
      throw new Error('directory is down');
    };
    for (const [fail, status] of [
      [refuse, 400],
      [crash, 500],
    ] as const) {
      let [asked, runs] = [0, 0];
      const work: Work = (...context) => ++asked < 3 && fail(...context);
      const app = express().set('env', 'test');
      app.post('/', idempotency({ store: new Keyv() }), bindRequest(Customer, optionsFor(work)), (_req, res) => {
        res.status(201).json(++runs);
      });
      const statuses: number[] = [];
      for (let time = 0; time < 4; time++) statuses.push((await ask(app, { ...ada, key: 'k' })).status);
      expect([statuses, runs]).toEqual([[status, status, 201, 201], 1]);
    }
  },
);
