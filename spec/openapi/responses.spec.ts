import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  fromBody,
  fromHeader,
  idempotency,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../lib';
import { ask, type Sent } from '../support/ask';
import { documentOf, type Operation } from '../support/described';
import { signal } from '../support/signal';

const ok: RequestHandler = (_req, res) => void res.json(null);
const responsesIn = (app: express.Express, method = 'post'): Operation['responses'] =>
  (Object.values(documentOf(app).paths)[0]?.[method] as Operation).responses;

it.each<[string, AnyType, BindingOptions, IdempotencyOptions | undefined, string[]]>([
  ['of a dto', dto({ a: int }), {}, undefined, ['200', '400', 'default']],
  ['of callers', dto({ a: int }), { allowAnonymous: false }, undefined, ['200', '400', '401', 'default']],
  ['of a key', dto({ a: int }), { responses: { 201: string } }, {}, ['201', '400', '409', 'default']],
  ['of a reused key', dto({ a: int }), {}, { whenKeyReused: 'reject' }, ['200', '400', '409', '422', 'default']],
  ['that are declared', dto({ a: int }), { responses: { 413: string } }, {}, ['200', '400', '409', '413', 'default']],
])('openapi() lists the refusals %s, after the success', (_what, Dto, options, guard, expected) => {
  const app = express();
  app.post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));
  const responses = responsesIn(app);
  expect(Object.keys(responses)).toEqual(expected);
  for (const status of ['400', '413', 'default'].filter(one => expected.includes(one)))
    expect(responses[status]?.content).toHaveProperty(['application/problem+json']);
  expect(responses['default']).toMatchObject({
    description: expect.stringMatching(/413 .*, 414 .*, 415 .*, 503 .*, 507 /),
    headers: { 'Retry-After': {} },
  });
});

const exampleIn = (responses: Operation['responses'], status: number): unknown =>
  (responses[status]?.content?.['application/problem+json'] as { example?: unknown } | undefined)?.example;

const formOnly = { allowFormData: true, fieldSources: ['form'] } as const;
it.each<[string, AnyType, BindingOptions, string, Sent]>([
  ['a value in JSON', dto({ id: routeParam(int), b: optional(int), a: int }), {}, '/:id', { path: '/1', json: {} }],
  ['a value in a form', dto({ a: int }), formOnly, '/', { multipart: [['b', '1']] }],
  ['a value in the query', dto({ a: queryParam(string) }), {}, '/', {}],
  ['a header', dto({ a: fromHeader(string, { name: 'X-A' }) }), {}, '/', {}],
  ['a whole body', list(int), {}, '/', {}],
  ['a whole body of a dto', dto({ all: fromBody(dto({ a: int })) }), {}, '/', {}],
])('the example of 400 is what a client gets that does not send %s', async (_what, Dto, options, path, sent) => {
  const app = express();
  app.post(path, bindRequest(Dto, options) as RequestHandler, ok);
  const { body } = await ask(app, { method: 'POST', ...sent });
  expect(exampleIn(responsesIn(app), 400)).toEqual({ ...(body as object), status: 400, instance: undefined });
});

it('the examples of a key are what its clients get: without one, while it is in flight, and with other values', async () => {
  const app = express();
  const [started, done] = [signal(), signal()];
  app.post('/', idempotency({ whenKeyReused: 'reject', whenInFlight: 'reject' }), async (_req, res) => {
    started.happens();
    await done.happened;
    res.json(null);
  });
  const answerTo = async (key: string | undefined, json: object): Promise<object> => {
    const { body } = await ask(app, { method: 'POST', json, ...(key !== undefined && { key }) });
    return { ...(body as object), instance: undefined };
  };
  const first = answerTo('k', {});
  await started.happened;
  const problems = [await answerTo(undefined, {}), await answerTo('k', {}), await answerTo('k', { other: 1 })];
  done.happens();
  await first.catch(() => undefined);
  expect([400, 409, 422].map(status => exampleIn(responsesIn(app), status))).toEqual(problems);
});

it('openapi() lists the refusals of a guard alone, and none of a route without our middlewares', () => {
  const guarded = express().get('/', idempotency(), ok);
  expect(Object.keys(responsesIn(guarded, 'get'))).toEqual(['200', '400', '409', 'default']);
  const { paths } = documentOf(express().get('/', ok), { listOthers: true });
  expect(JSON.stringify(paths)).not.toContain('problem+json');
});
