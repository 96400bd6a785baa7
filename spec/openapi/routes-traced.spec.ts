import { randomUUID } from 'node:crypto';
import express, { type ErrorRequestHandler } from 'express';
import { bindRequest, dto, idempotency, int, optional } from '../../lib';
import { ask } from '../support/ask';
import { documentOf } from '../support/described';
import { expressVersions } from '../support/express-versions';

type Handle = ((...args: unknown[]) => unknown) & Record<string, unknown>;

interface Stack {
  stack: { handle: Handle; readonly route?: Stack; rawPath?: unknown }[];
}

/** A function that calls the original, and shows its properties as `own` says. */
function inPlaceOf(original: Handle, own: (name: string | symbol) => PropertyDescriptor | undefined): Handle {
  const wrapper = function (this: unknown, req: unknown, res: unknown, ...others: unknown[]): unknown {
    return original.apply(this, [req, res, ...others]);
  };
  for (const name of Reflect.ownKeys(original).filter(key => !['prototype', 'length', 'name'].includes(String(key)))) {
    const descriptor = own(name);
    if (descriptor) Object.defineProperty(wrapper, name, descriptor);
  }
  return wrapper as unknown as Handle;
}

/** What each tracer puts in the place of a function that was mounted; it leaves handlers of errors. */
const tracers: readonly [name: string, wrap: (original: Handle) => Handle, wrapsHandlersOfRoutes: boolean][] = [
  ...['__original', '__sentry_original__'].map((key): (typeof tracers)[number] => [
    key,
    original => {
      const getter = (name: string | symbol) =>
        Object.keys(original).includes(String(name)) ? { get: () => original[name as string] } : undefined;
      return Object.defineProperty(inPlaceOf(original, getter), key, { value: original });
    },
    false,
  ]),
  ['dd-trace', original => inPlaceOf(original, name => Object.getOwnPropertyDescriptor(original, name)), true],
];

/** Wraps what is mounted in an application or router, and in the routers there. */
function trace({ stack }: Stack, wrap: (original: Handle) => Handle, wrapsHandlers = false): void {
  for (const layer of stack) {
    if (layer.route && wrapsHandlers) trace(layer.route, wrap);
    if (Array.isArray(layer.handle['stack'])) trace(layer.handle as unknown as Stack, wrap, wrapsHandlers);
    // OpenTelemetry marks a handler of errors, which it does not replace, as its own original.
    if (layer.handle.length < 4) layer.handle = wrap(layer.handle);
    else Object.defineProperty(layer.handle, '__original', { value: layer.handle });
  }
}

describe.each(expressVersions)('openapi() under %s', (_version, version) => {
  const stackIn = (app: unknown): Stack => {
    const { _router } = app as { readonly _router?: Stack };
    return _router ?? (app as { readonly router: Stack }).router;
  };

  it.each(tracers)('describes an application whose functions %s has wrapped', async (_name, wrap, wrapsHandlers) => {
    const [app, orders, admin] = [version(), version.Router(), version()];
    const bound = bindRequest(dto({ a: optional(int) }));
    const failed: ErrorRequestHandler = (error, _req, _res, next) => {
      next(error);
    };
    for (const router of [orders, admin]) router.post('/', bound, (_req, res) => res.sendStatus(201));
    app.use(idempotency()).use('/orders', orders).use('/admin', admin).use(failed);
    const mounts = { '/admin': admin };
    const untraced = documentOf(app, { mounts });
    for (const one of [app, admin]) trace(stackIn(one), wrap, wrapsHandlers);
    const document = documentOf(app, { mounts });
    expect(document).toEqual(untraced);
    const keyed = { post: { parameters: [{ name: 'Idempotency-Key' }] } };
    expect(document.paths).toMatchObject({ '/orders': keyed, '/admin': keyed });
    expect((await ask(app, { path: '/admin' })).status).toBe(400);
    expect((await ask(app, { path: '/admin', key: randomUUID() })).status).toBe(201);
  });
});

it.each(tracers.slice(0, 2))('openapi() knows a router that `mounts` names, and %s has wrapped', (_name, wrap) => {
  const [app, orders] = [express(), express.Router()];
  orders.post('/', bindRequest(dto({ a: optional(int) })));
  app.use('/orders', orders);
  const router = app.router as unknown as Stack;
  // As under Express 5.0 to 5.2, which do not keep the path.
  for (const layer of router.stack) delete layer.rawPath;
  trace(router, wrap);
  expect(Object.keys(documentOf(app, { mounts: { '/orders': orders } }).paths)).toEqual(['/orders']);
});
