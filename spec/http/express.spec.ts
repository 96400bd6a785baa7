import type { IncomingMessage, ServerResponse } from 'node:http';
import { bindRequest, dto, idempotency, int, queryParam } from '../../lib';
import { send } from '../support/listen';
import { serve } from '../support/serve';

type Middleware = (...args: unknown[]) => unknown;

const Page = dto({ page: queryParam(int) });
const middlewares: [title: string, name: string, middleware: Middleware][] = [
  ['idempotency()', 'idempotency', idempotency() as Middleware],
  ['idempotency() for other methods', 'idempotency', idempotency({ methods: ['PUT'] }) as Middleware],
  ['bindRequest()', 'bindRequest', bindRequest(Page) as Middleware],
];

/** The arguments with which other frameworks call what is mounted in them. */
const frameworks: [name: string, argumentsFor: (req: IncomingMessage, res: ServerResponse) => unknown[]][] = [
  ['Koa', (req, res) => [{ req, res, headers: req.headers, method: req.method, url: req.url }, async () => undefined]],
  ['Hono', ({ headers, method, url }) => [{ req: { raw: { headers, method, url } } }, async () => undefined]],
  [
    'a hook of Fastify',
    (req, res) => [
      { raw: req, headers: req.headers, method: req.method, url: req.url, socket: req.socket },
      { raw: res },
      () => undefined,
    ],
  ],
  ['a route of Fastify', (req, res) => [{ raw: req, headers: req.headers }, { raw: res }]],
];

describe.each(frameworks)('called as by %s', (_framework, argumentsFor) => {
  it.each(middlewares)('%s throws at once, and says which frameworks it is for', async (_title, name, middleware) => {
    const thrown: unknown[] = [];
    const { url } = await serve((req, res) => {
      try {
        middleware(...argumentsFor(req, res));
      } catch (error) {
        thrown.push(error);
      }
      res.end();
    });

    await send(url, { method: 'POST', headers: { 'Idempotency-Key': 'k-1' } });

    expect(thrown).toEqual([
      new TypeError(
        `${name}: it was called with other arguments than Express passes (req, res, next). ` +
          'bindonce is for Express 4 and 5; Koa, Fastify and Hono pass others.',
      ),
    ]);
  });
});

it.each(middlewares)('%s says so when it is called without arguments', (_title, name, middleware) => {
  expect(() => middleware()).toThrow(`${name}: it was called with other arguments than Express passes`);
});

it('a test may pass bindRequest() an object with the parts of a request that it reads', () => {
  const req = { method: 'GET', url: '/?page=2', headers: {}, query: { page: '2' } };
  const passedOn: unknown[] = [];
  (bindRequest(Page) as Middleware)(req, {}, (error: unknown) => passedOn.push(error));
  expect([passedOn, req]).toEqual([[undefined], { ...req, dto: { page: 2 } }]);
});
