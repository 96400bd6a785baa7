import express, { type RequestHandler } from 'express';
import { BigNumber, bindRequest, dateTime, decimal, dto, enumOf, field, fromBody, fromClaim } from '../../lib';
import { fromHeader, guid, idempotency, int, list, long, nullable, openapi, optional, problemDetails } from '../../lib';
import { queryParam, routeParam, string, timeSpan, uri, version } from '../../lib';
import type { AnyType, BindingOptions, IdempotencyOptions, OpenApiDocument } from '../../lib';
import { documentOf, info, type Operation } from '../support/described';
import { ExchangeCheck } from '../support/exchange-check';
import { serve } from '../support/serve';
import { ask, type Sent } from '../support/ask';
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

class Line extends dto({ sku: string, price: decimal }) {}
class Order extends dto({
  ...{ id: guid, number: long, at: dateTime, took: timeSpan, link: uri, release: version },
  owner: fromClaim(string, { required: false }),
  state: enumOf(['open', 'paid']),
  lines: field(list(Line)),
  parent: optional(nullable(guid)),
  matrix: field(list(list(int))),
}) {}

const order = {
  ...{ id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', owner: 'me', number: 9_007_199_254_740_993n, at: new Date(0) },
  ...{ took: 5_400_000, link: new URL('https://shop.example/1'), release: '1.2.3', state: 'open' },
  lines: [{ sku: 'tea', price: new BigNumber('4.50'), secret: 'not declared' }],
  ...{ parent: null, matrix: [[1], []] },
};

type Responses = NonNullable<BindingOptions['responses']>;

/** What the document does not allow in the answer to a request. */
async function faultsIn(responses: Responses, answer: RequestHandler): Promise<[number, string[]]> {
  const app = express();
  const Dto: AnyType = dto({ q: queryParam(int) });
  app.post('/', idempotency(), bindRequest(Dto, { responses }) as RequestHandler, answer);
  app.use(problemDetails());
  const { url } = await serve(app);
  const document = JSON.parse(JSON.stringify(openapi(app, { info }))) as OpenApiDocument;
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const answers = new ExchangeCheck(document);
  const sent = { method: 'POST', path: '/?q=1', headers };
  const [first, replay] = [await answers.send(url, sent), await answers.send(url, sent)];
  return [first.status, [...first.request, ...first.answer, ...replay.answer]];
}

it.each<[string, Responses, RequestHandler, number, ...string[]]>([
  ['with every type fits', { 201: Order }, (_req, res) => void res.status(201).json(order), 201],
  ['of a list fits', { 200: list(Line) }, (_req, res) => void res.json(order.lines), 200],
  [
    'that is declared for a failure fits',
    { 200: Order, 409: Line },
    (_req, res) => void res.status(409).json(order.lines[0]),
    409,
  ],
  ['that is not declared fits', {}, (_req, res) => void res.status(202).send('<p>later</p>'), 202],
  ['without content fits', {}, (_req, res) => void res.status(204).end(), 204],
  [
    'without a property does not',
    { 200: Line },
    (_req, res) => void res.json({ sku: 'tea' }),
    200,
    ...Array<string>(2).fill("status 200: must have required property 'price'"),
  ],
])('of the document, an answer %s', async (_what, responses, answer, status, ...faults) => {
  expect(await faultsIn(responses, answer)).toEqual([status, faults]);
});
