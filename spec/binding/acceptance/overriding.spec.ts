import { once } from 'node:events';
import { connect } from 'node:net';
import type { Response as Answer } from 'supertest';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';
import {
  bindRequest,
  configure,
  dto,
  field,
  fromBody,
  fromClaim,
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
  valueParserFor,
  type AnyType,
  type Binder,
  type BinderContext,
  type BindingOptions,
  type ProblemError,
} from '../../../lib';
import { serve } from '../../support/serve';
import { expressVersions } from '../../support/express-versions';
import { ask, problemIn, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Order extends dto({ sku: string, quantity: queryParam(int, { default: 1 }) }) {}
class Customer extends dto({ name: string }) {}

/** Says nothing about its properties: nothing but a binder of the application's own can make one. */
class Bare {
  constructor(readonly greeting: string) {}
}

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

  it('is made once for each endpoint, with the middleware, not for each request', async () => {
    const made: AnyType[] = [];
    const configured = configure({
      binding: {
        binder: Dto => {
          made.push(Dto);
          return new Naming(Dto);
        },
      },
    });
    const app = framework()
      .post('/orders', configured.bindRequest(Order), answering)
      .post('/customers', configured.bindRequest(Customer), answering);
    expect(made).toEqual([Order, Customer]);
    for (const path of ['/orders', '/orders', '/customers']) await post(app, path, {});
    expect(made).toEqual([Order, Customer]);
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

  it('makes a class that declares nothing', async () => {
    const greeting: Binder<Bare> = { bind: ({ req }) => new Bare(`hello ${String(req.query['who'])}`) };
    const { dto: bound } = await bind(Bare, { path: '/?who=Ada' }, { binder: greeting });
    expect(bound).toEqual({ greeting: 'hello Ada' });
    expect(bound).toBeInstanceOf(Bare);
    expect(() => bindRequest(Bare)).toThrow(/Bare/);
    expect(() => bindRequest(Bare, { binder: new RequestBinder() })).toThrow(/Bare/);
  });

  it.each<[string, unknown, string]>([
    ['a class in place of an instance', RequestBinder, 'for a class, pass an instance'],
    ['a class without bind', class {}, 'for a class, pass an instance'],
    ['an object without bind', {}, 'binder must be an object with a method bind(context, signal)'],
    ['a function that makes nothing', () => undefined, 'the function in `binder` must return an object'],
    ['a function that promises one', () => Promise.resolve(binder), 'the function in `binder` must return an object'],
  ])('is checked when the middleware is made: %s', (_what, given, message) => {
    expect(() => bindRequest(Customer, { binder: given as Binder<Customer> })).toThrow(message);
  });

  it('is not asked for callers who are not let in', async () => {
    let asked = 0;
    const { status } = await bind(
      Customer,
      {},
      {
        binder: {
          bind: () => {
            asked++;
            return new Customer();
          },
        },
        allowAnonymous: false,
      },
    );
    expect([status, asked]).toEqual([401, 0]);
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

  it.each<[string, Sent, number]>([
    ['a missing value', { json: {} }, 400],
    ['a value that is not valid', { json: { name: 1 } }, 400],
    ['malformed JSON', { json: '{' }, 400],
    ['another content type', { body: 'x', headers: { 'Content-Type': 'text/plain' } }, 415],
    ['a long body', { json: { name: 'x'.repeat(2_000_000) } }, 413],
  ])('goes on after super.bind on success only: %s', async (_what, sent, status) => {
    const binder = new Derived();
    expect(await bind(Customer, sent, { binder, framework })).toMatchObject({ status, dto: undefined });
    expect(binder.after).toEqual([]);
  });
});

it.each<[string, BindingOptions]>([
  ['a modifier', { modifier: () => undefined }],
  ['a derived binder', { binder: new (class extends RequestBinder<unknown> {})() }],
])('a body that may be left out can be, with %s', async (_what, options) => {
  for (const Dto of [optional(list(Customer)), optional(z.object({ a: z.string() }))]) {
    const { status, dto: bound } = await bind(Dto, {}, options);
    expect([status, bound]).toEqual([200, undefined]);
  }
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

  it.each(ways)('behind idempotency(), its answer is stored and replayed: %s', async (_what, options) => {
    const { app, ran } = endpoint(options, idempotency({ store: new Keyv() }));
    const server = await serve(app);
    const sent = { key: 'k', json: { name: 'Ada' } };
    const [first, second] = [await ask(server.url, sent), await ask(server.url, sent)];
    expect([first.status, first.text, second.status, second.text, ran]).toEqual([403, 'denied', 403, 'denied', []]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  it('an error that is no refusal goes to Express, as from any middleware that has answered', async () => {
    const { app, ran } = endpoint(
      own(() => {
        throw new Error('a mistake');
      }),
    );
    app.set('env', 'test');
    await ask(app, { json: {} }).catch(() => undefined);
    expect(ran).toEqual(['Error: a mistake']);
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

  it('comes after a required value was looked for: it cannot supply one', async () => {
    expect(
      (
        await bind(
          Customer,
          { json: {} },
          {
            modifier: (bound: Customer) => {
              bound.name = 'Ada';
            },
            framework,
          },
        )
      ).status,
    ).toBe(400);
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

  it('has the request, the response, the Dto and the serializer options', async () => {
    let seen: unknown[] = [];
    const naming = (name: string): string => name;
    const { response } = await bind(Customer, ada, {
      ...optionsFor(({ req, res, Dto, serializerOptions, failures }) => {
        seen = [req.method, Dto, serializerOptions.propertyNamingPolicy, serializerOptions.converters, failures];
        res.set('X-Bound-By', 'us');
      }),
      propertyNamingPolicy: naming,
    });
    expect(seen).toEqual(['POST', Customer, naming, [], []]);
    expect(response.headers['x-bound-by']).toBe('us');
  });

  it('is told when the client hangs up, and no answer is sent', async () => {
    let ran = false;
    const aborted = deferred<unknown>();
    const begun = deferred<undefined>();
    const app = express().post(
      '/',
      bindRequest(
        Customer,
        optionsFor(async (_context, signal) => {
          begun.resolve(undefined);
          if (!signal.aborted) await once(signal, 'abort');
          aborted.resolve(signal.reason);
          signal.throwIfAborted();
        }),
      ),
      () => {
        ran = true;
      },
    );
    const { port } = await serve(app);
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":"Ada"}',
    );
    await begun.promise;
    socket.destroy();
    expect(await aborted.promise).toBeInstanceOf(Error);
    expect(ran).toBe(false);
  });
});

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>(done => {
    resolve = done;
  });
  return { promise, resolve };
}

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

  class Parsed {
    constructor(readonly text: string) {}
  }
  class Anywhere extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    who: fromClaim(string, { name: 'sub', required: false }),
    orderId: field(int, { bindFrom: 'order-id', required: false }),
    parsed: field(Parsed, { required: false }),
  }) {}
  const valueParsers = [valueParserFor(Parsed, text => ({ success: true, value: new Parsed(text ?? '') }))];
  const snake = { propertyNamingPolicy: 'snake_case', valueParsers, ...urlEncoded } as const;

  it.each<[string, Sent, string, ProblemError['in'] | undefined, Partial<ProblemError>]>([
    ['the query instead of a header', {}, 'tenant', 'query', { name: 'tenant', in: 'query' }],
    ['a claim that may be sent elsewhere', {}, 'who', undefined, { name: 'sub', in: 'claim' }],
    ['the query of a POST', {}, 'orderId', 'query', { name: 'order-id', in: 'query' }],
    ['the form', { form: [['a', '']] }, 'orderId', undefined, { name: 'order-id', in: 'form' }],
    [
      'the JSON, whatever was sent',
      { form: [['a', '']] },
      'orderId',
      'json',
      { name: 'order_id', pointer: '/order_id' },
    ],
  ])('reports under the name that the property has in its source: %s', async (_what, sent, name, where, error) => {
    const { errors } = await bind(Anywhere, sent, { ...snake, ...failing(name, where), route: '/{:"order-id"}' });
    expect(errors).toEqual([{ in: where, ...error, detail: 'No.' }]);
  });

  class Line extends dto({
    sku: string,
    unitPrice: field(int, { jsonPropertyName: 'price' }),
    perBox: optional(int),
  }) {}
  class Basket extends dto({ lineItems: list(Line), note: optional(string), page: queryParam(int, { default: 1 }) }) {}
  const basket = { line_items: [{ sku: 'tea', price: 5 }] };

  it.each<[string, string, Partial<ProblemError>]>([
    ['lineItems[0].sku', 'line_items[0].sku', { pointer: '/line_items/0/sku' }],
    ['lineItems[0]', 'line_items[0]', { pointer: '/line_items/0' }],
    ['lineItems[0].unitPrice', 'line_items[0].price', { pointer: '/line_items/0/price' }],
    ['lineItems[0].perBox', 'line_items[0].per_box', { pointer: '/line_items/0/per_box' }],
  ])('points into the JSON by its names: %s', async (name, nameThere, where) => {
    const { errors } = await bind(Basket, { json: basket }, { propertyNamingPolicy: 'snake_case', ...failing(name) });
    expect(errors).toEqual([{ name: nameThere, in: 'json', ...where, detail: 'No.' }]);
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

  it('before super.bind is reported together with the failures of super.bind', async () => {
    class Strict extends RequestBinder<Customer> {
      override bind(context: BinderContext<Customer>, signal: AbortSignal): Promise<Customer> {
        context.fail('captcha', 'It is missing.');
        return super.bind(context, signal);
      }
    }
    expect(
      (await bind(Customer, { json: { name: 1 } }, { binder: new Strict() })).errors.map(({ name }) => name),
    ).toEqual(['captcha', 'name']);
  });

  it('goes to onProblem where there is one', async () => {
    const configured = configure({
      onProblem: (problem, _req, res) => {
        res.writeHead(422).end(problem.errors?.[0]?.detail);
      },
      binding: failing('name'),
    });
    const app = express().post('/', configured.bindRequest(Customer), answering);
    expect(await ask(app, ada)).toMatchObject({ status: 422, text: 'No.' });
  });
});

describe.each(overriding)('behind idempotency(): %s', (_what, optionsFor) => {
  interface Answers {
    readonly answers: readonly string[];
    readonly runs: number;
  }

  /** Sends one request again and again under one key. */
  async function again(times: number, work: Work, framework: () => Express): Promise<Answers> {
    let runs = 0;
    const app = framework().post(
      '/',
      idempotency({ store: new Keyv() }),
      bindRequest(Customer, optionsFor(work)),
      (req, res) => {
        res.status(201).json([++runs, req.dto.name]);
      },
    );
    app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
      if (res.headersSent) next(error);
      else res.status(503).end(error.message);
    });
    const answers: string[] = [];
    for (let time = 0; time < times; time++) answers.push(said(await ask(app, { ...ada, key: 'k' })));
    return { answers, runs };
  }

  const said = (response: Answer): string =>
    `${response.status}${response.headers['idempotent-replayed'] === 'true' ? ' replayed' : ''}${problemIn(response) ? ' refused' : ''}`;

  it.each<[string, (context: BinderContext<never>) => void, string]>([
    [
      'a refusal',
      context => {
        context.fail('name', 'Not yet.');
      },
      '400 refused',
    ],
    [
      'an error',
      () => {
        throw new Error('directory is down');
      },
      '503',
    ],
  ])('%s keeps the key usable', async (_what, fail, answer) => {
    for (const [, framework] of expressVersions) {
      let times = 0;
      const { answers, runs } = await again(
        4,
        context => {
          if (++times < 3) fail(context);
        },
        framework,
      );
      expect([answers, runs]).toEqual([[answer, answer, '201', '201 replayed'], 1]);
    }
  });
});

it('behind idempotency(), a client that hangs up while its body is being bound leaves the key usable', async () => {
  let gone: Promise<unknown> | undefined;
  const arrived = deferred<undefined>();
  const app = express();
  app.use((req, _res, next) => {
    gone ??= new Promise(closed => {
      req.once('close', closed);
    });
    next();
    arrived.resolve(undefined);
  });
  app.post(
    '/',
    idempotency({ store: new Keyv(), ignoreRequestBody: true, waitTimeout: 1_000 }),
    bindRequest(Customer, { binder: new Derived() }),
    answering,
  );
  const { url, port } = await serve(app);
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name"`,
  );
  await arrived.promise;
  socket.destroy();
  await gone;
  expect(await ask(url, { ...ada, key: 'k' })).toMatchObject({
    status: 200,
    text: '{"name":"Ada (private)"}',
  });
});
