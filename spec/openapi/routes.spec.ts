import { randomUUID } from 'node:crypto';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, fromHeader, idempotency, int, optional, routeParam, string } from '../../lib';
import type { OpenApiOptions } from '../../lib';
import { ask } from '../support/ask';
import { documentOf, placesIn, type Operation } from '../support/described';
import { expressVersions } from '../support/express-versions';

/** The methods that stand for all. */
const USUAL = ['get', 'put', 'post', 'delete', 'patch'];

describe.each(expressVersions)('openapi() under %s', (_version, version) => {
  const bound = bindRequest(dto({ a: optional(int) }));

  it('finds the routes of nested routers, with the middlewares before them', async () => {
    const [app, customers, orders] = [version(), version.Router({ mergeParams: true }), version.Router()];
    orders.post('/', bound).get('/:orderId', bound);
    customers.use('/:customerId/orders', orders);
    app.use('/v1', idempotency({ methods: ['POST'] }));
    app.use('/v1/customers', customers);
    app.post('/v10', bound);
    const { paths } = documentOf(app);
    const keyed = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const { parameters = [] } = operation as Operation;
        return `${method} ${path}${parameters.some(({ name }) => name === 'Idempotency-Key') ? ' key' : ''}`;
      }),
    );
    expect(keyed).toEqual([
      'post /v1/customers/{customerId}/orders key',
      'get /v1/customers/{customerId}/orders/{orderId}',
      'post /v10',
    ]);
  });

  it('lists app.all() under the usual methods, several paths, and routes of others if told so', async () => {
    const app = version();
    app.all('/all', bound);
    app.get(['/one', '/two'], bound);
    app.get('/other', (_req, res) => res.end());
    app.get(/^\/pattern$/, bound);
    const listed = async (options: Partial<OpenApiOptions>): Promise<string[]> =>
      Object.keys(documentOf(app, options).paths);
    expect(await listed({})).toEqual(['/all', '/one', '/two']);
    expect(await listed({ listOthers: true })).toEqual(['/all', '/one', '/two', '/other']);
    expect(Object.keys(documentOf(app).paths['/all'] ?? {})).toEqual(USUAL);
  });

  const ends: RequestHandler = (_req, res) => void res.json(null);
  const binds = bindRequest(dto({ b: int })) as RequestHandler;

  it.each<[string, (app: express.Express) => unknown, string[]]>([
    [
      'those that it names',
      app => app.route('/x').all(idempotency(), binds).get(ends).options(ends),
      ['get', 'options'],
    ],
    ['the usual ones', app => app.route('/x').all(idempotency(), binds, ends), USUAL],
    ['the usual ones, in an application', app => app.all('/x', idempotency(), binds, ends), USUAL],
  ])('lists a route for all methods under %s', async (_which, mount, methods) => {
    const app = version();
    mount(app as express.Express);
    expect(Object.keys(documentOf(app).paths['/x'] ?? {}).sort()).toEqual([...methods].sort());
    for (const method of ['get', 'post', 'put']) {
      const { status } = await ask(app, { method, path: '/x?b=1', key: randomUUID(), json: { b: 1 } });
      expect([method, status]).toEqual([method, methods.includes(method) ? 200 : 404]);
    }
  });

  it.each<[string, (app: express.Express) => unknown]>([
    ['of one path', app => app.post('/x', idempotency()).post('/x', binds, ends)],
    ['of all methods, and of one', app => app.all('/x', idempotency()).post('/x', binds, ends)],
    ['under two names', app => app.post('/:first', idempotency()).post('/:second', binds, ends)],
    ['of another router', app => app.use(version.Router().post('/x', idempotency())).post('/x', binds, ends)],
    ['with one for all paths in front', app => app.use(idempotency()).post('/x', binds, ends)],
  ])('describes together the routes that a request runs through, one after the other: %s', async (_what, mount) => {
    const app = version();
    mount(app);
    const post = Object.values(documentOf(app).paths)[0]?.['post'] as Operation;
    expect(placesIn(post).filter(place => !place.startsWith('path'))).toEqual([
      'header Idempotency-Key',
      'application/json b',
    ]);
    const send = async (key: string | undefined, json?: object) =>
      (await ask(app, { method: 'POST', path: '/x', json, ...(key !== undefined && { key }) })).status;
    expect([await send(undefined, { b: 1 }), await send('1'), await send('2', { b: 1 })]).toEqual([400, 400, 200]);
  });

  it('describes the first of two routes that answer, and of two dtos the last, which the handler gets', () => {
    const app = version();
    app.post('/x', bindRequest(dto({ a: int })) as RequestHandler, binds, ends);
    app.post('/x', idempotency(), binds, ends);
    expect(placesIn(documentOf(app).paths['/x']?.['post'] as Operation)).toEqual(['application/json b']);
  });
});

describe('openapi() tells the truth about the paths of', () => {
  const bound = bindRequest(dto({ q: optional(int) }));
  const named = bindRequest(dto({ q: optional(int) }), { openapi: { operationId: 'x' } });
  const hidden = bindRequest(dto({ q: optional(int) }), { openapi: { hidden: true } });
  const guard = idempotency();
  const ends = (_req: unknown, res: express.Response): void => void res.json(null);
  const router = (options = {}): express.Router => express.Router(options);
  const old = expressVersions[1]?.[1] ?? express;
  const named4 = old.Router().post('/', bound);
  const mounts5: Record<string, express.Router> = {};
  const named5 = router().post('/', bound, ends);

  it.each<[string, (app: express.Express) => unknown, typeof express?, OpenApiOptions['mounts']?]>([
    ['get /a%7Bb%7D', app => app.get('/a\\{b\\}', bound)],
    ['get /%7Bb%7D', app => app.get('/{b}', bound), old],
    ['get /{a_b_} a_b_', app => app.get('/:"a/b}"', bound)],
    [
      'get /{id} id, post /{id} id',
      app => app.get('/:id', bound).post('/:order', bindRequest(dto({ order: routeParam(int) }))),
    ],
    ['post /a/b key', app => app.use('/a', router().use(guard)).post('/a/b', bound)],
    ['post /{id2}/{id}/a id2 id key', app => app.use('/:id', router().use('/:id/a', guard).post('/:id/a', bound))],
    ['post /a key', app => app.post('/a', guard, ends).post('/a', bindRequest(dto({ h: fromHeader(string) })), ends)],
    ['post /b', app => app.use('/a', router().use(guard)).post('/b', bound, ends)],
    ['', app => app.post('/a', guard).post('/a', hidden, ends)],
    ['get /{0} 0, get /b/{0} 0', app => app.get('*', bound).use('/b', old.Router().get('*', bound)), old],
    ['get /{a}/{b} a b', app => app.use('/:a', router().get('/:b', bindRequest(dto({ a: optional(int), b: int }))))],
    ['get /a', app => app.use(((one: express.Router) => one.get('/a', bound).use('/b', one))(router()))],
    ['post /a/{y}/b y key', app => app.use('/a/:x', guard).post('/a/:y/b', bound)],
    ['post /a/b key', app => app.use(/^\/a/, guard).post('/a/b', bound)],
    ['post /a/b, post /a/{x} x', app => app.use('/a/c', guard).post('/a/b', bound).post('/a/:x', bound)],
    ['post /b key', app => app.use(['/a', '/b'], guard).post('/b', bound), old],
    ['get /m/x, get /m/{o}/x o', app => app.use('/m/:o(\\d+)?', old.Router().get('/x', bound)), old],
    ['get /{a} a, get /{a}.{b} a b', app => app.get('/:a.:b?', bound), old],
    ['', app => app.get('/a(bc)?', bound).get('/ab+', bound).get('/a?b', bound), old],
    ['', app => app.use('/a(bc)?', router().get('/x', bound)).use('/:a-:b', router().get('/x', bound)), old],
    [
      'get /x as getX2, get /y as getX',
      app =>
        app.get('/x', bound).get('/y', bindRequest(dto({ q: optional(int) }), { openapi: { operationId: 'getX' } })),
    ],
    [
      'post /a, post /abc, post /e',
      app => app.use('/a(bc)?', named4).use('/e', named4),
      old,
      { '/a': named4, '/abc': named4 },
    ],
    [
      'post /c/d, post /c/d/e key',
      app => {
        const outer = router().use('/d', named5).use('/d/e', guard, named5);
        app.use('/c', outer);
        for (const { stack } of [app.router, outer])
          for (const layer of stack) delete (layer as { rawPath?: unknown }).rawPath;
        Object.assign(mounts5, { '/c': outer, '/c/d': named5, '/c/d/e': named5 });
      },
      express,
      mounts5,
    ],
    ['post /c, post /d/{x} x, post /e', app => app.use(['/c', '/d/:x', '/e'], named4), old],
    ['get /, get /{a} a, get /{a}/{b} a b', app => app.get('{/:a}{/:b}', bound, ends)],
    ['get /, get /{a} a, get /{a}/{b} a b', app => app.get('/:a?/:b?', bound, ends), old],
    ['get /a as x, get /b as x2', app => app.get(['/a', '/b'], named)],
  ])('%s', (...[expected, mount, version = express, mounts = {}]) => {
    const app = version();
    mount(app);
    const found = Object.entries(documentOf(app, { mounts }).paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const { parameters = [], operationId } = operation as Operation;
        const others = parameters
          .filter(({ name }) => name !== 'q')
          .map(({ name, required }) => (name === 'Idempotency-Key' ? 'key' : `${name}${required ? '' : '?'}`));
        const id = /^(x|x2|getX|getX2)$/.test(operationId) ? [`as ${operationId}`] : [];
        return [method, path, ...others, ...id].join(' ');
      }),
    );
    expect(found.join(', ')).toBe(expected);
  });
});

it('openapi() describes each form of a path with an optional part', () => {
  const Dto = dto({ year: optional(int) });
  const { paths } = documentOf(express().get('/reports{/:year}', bindRequest(Dto)));
  expect(Object.entries(paths).map(([path, { get }]) => [path, placesIn(get as Operation)])).toEqual([
    ['/reports', ['query year?']],
    ['/reports/{year}', ['path year']],
  ]);
});

it('openapi() asks for the path of a router that Express 5.0 to 5.2 do not keep', () => {
  const app = express().use('/orders', express.Router().post('/', bindRequest(dto({ q: optional(int) }))));
  for (const layer of app.router.stack) delete (layer as { rawPath?: unknown }).rawPath;
  expect(() => documentOf(app)).toThrow('Name it in `mounts`');
});
