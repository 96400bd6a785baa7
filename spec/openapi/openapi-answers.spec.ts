import express, { type RequestHandler } from 'express';
import {
  BigNumber,
  bindRequest,
  dateTime,
  decimal,
  dto,
  enumOf,
  field,
  fromClaim,
  guid,
  idempotency,
  int,
  list,
  long,
  nullable,
  openapi,
  optional,
  problemDetails,
  queryParam,
  string,
  timeSpan,
  uri,
  version,
  type AnyType,
  type BindingOptions,
  type OpenApiDocument,
} from '../../lib';
import { info } from '../support/described';
import { ExchangeCheck } from '../support/exchange-check';
import { serve } from '../support/serve';

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
