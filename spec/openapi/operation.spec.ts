import express from 'express';
import {
  bindRequest,
  bool,
  dateTime,
  decimal,
  dto,
  field,
  file,
  formField,
  fromHeader,
  guid,
  hasPermission,
  idempotency,
  int,
  list,
  queryParam,
  routeParam,
  string,
} from '../../lib';
import { documentOf } from '../support/described';

class Line extends dto({ sku: string, quantity: int, price: decimal }) {}
class PlaceOrder extends dto({
  customerId: routeParam(guid),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  items: field(list(Line)),
  rush: queryParam(bool, { default: false }),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {}
class Placed extends dto({ id: guid, at: dateTime, lines: field(list(Line)) }) {}
class Scan extends dto({ title: formField(string), picture: file }) {}

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const refusal = (...titles: string[]) => ({
  description: titles.map(one => `${one}.`).join(' '),
  content: { 'application/problem+json': { schema: reference('Problem') } },
});
const temporary = (...titles: string[]) => ({
  ...refusal(...titles),
  headers: {
    'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 0 } },
  },
});
const ofBody = {
  413: refusal('Request body is too large'),
  415: refusal('Request body is of an unsupported type'),
  507: refusal('The server has no room for the request body'),
};

const order = {
  operationId: 'postCustomersByCustomerIdOrders',
  summary: 'Places an order',
  description: 'Query parameters of these names replace the values in path and body: items.',
  tags: ['orders'],
  parameters: [
    { name: 'customerId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
    { name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } },
    { name: 'rush', in: 'query', required: false, schema: { type: 'boolean', default: false } },
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description: 'A key.',
      'x-idempotency-key': { takesUuids: false, replayedHeader: 'Idempotent-Replayed' },
      schema: { type: 'string', minLength: 1, pattern: '^[\\w-]+$' },
    },
  ],
  requestBody: {
    description: 'A body has at most 1 MiB.',
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: { items: { type: 'array', items: reference('Line'), maxItems: 10_000 } },
          required: ['items'],
        },
      },
    },
  },
  security: [{}, { caller: [] }],
  responses: {
    201: {
      description: 'The request was carried out.',
      headers: {
        'Idempotency-Key': { description: 'The key of the request.', schema: { type: 'string' } },
        'Idempotent-Replayed': {
          description: 'true if the response is that of an earlier request with this key.',
          schema: { type: 'string', enum: ['true'] },
        },
      },
      content: { 'application/json': { schema: reference('Placed') } },
    },
    400: refusal(
      'Idempotency key is missing',
      'Idempotency key is repeated',
      'Idempotency key is malformed',
      'One or more values are not valid',
      'Request body is malformed',
    ),
    409: temporary('A request with this idempotency key is in flight', 'The response is no longer available'),
    414: refusal('URL has too many query parameters'),
    503: temporary(
      'The idempotency store is unavailable',
      'The server has too many large requests',
      'The server cannot store the request body',
    ),
    ...ofBody,
  },
};

const scan = {
  operationId: 'postScans',
  requestBody: {
    description: 'A body has at most 1 MiB, a multipart form at most 16 MiB with its files.',
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            picture: {
              type: 'string',
              format: 'binary',
              contentMediaType: 'application/octet-stream',
              maxLength: 10_485_760,
            },
          },
          required: ['title', 'picture'],
        },
      },
    },
  },
  security: [{ caller: [] }],
  responses: {
    204: { description: 'The request was carried out.' },
    400: refusal('One or more values are not valid', 'Request body is malformed'),
    401: refusal('Authentication is required'),
    503: temporary('The server has too many large requests', 'The server cannot store the request body'),
    ...ofBody,
  },
};

it('openapi() describes a shop: orders with a key, and an upload', () => {
  const shop = express();
  const orders = express.Router({ mergeParams: true });
  const ofOrder = { summary: 'Places an order', tags: ['orders'] };
  orders.post('/', bindRequest(PlaceOrder, { responses: { 201: Placed }, openapi: ofOrder }));
  const guard = idempotency({ keyPattern: /^[\w-]+$/, swaggerHeaderDescription: 'A key.' });
  shop.use('/customers/:customerId/orders', guard, orders);
  const ofScan = { allowFormData: true, allowAnonymous: false, responses: { 204: Line } } as const;
  shop.post('/scans', bindRequest(Scan, ofScan));

  const { paths, components } = documentOf(shop);
  expect(paths).toEqual({ '/customers/{customerId}/orders': { post: order }, '/scans': { post: scan } });
  const { schemas, securitySchemes } = components as { schemas: object; securitySchemes: object };
  expect(securitySchemes).toEqual({ caller: { type: 'http', scheme: 'bearer' } });
  expect(Object.keys(schemas)).toEqual(['Problem', 'InvalidValue', 'Line', 'Placed', 'LineResponse']);
  expect(schemas).toMatchObject({
    Line: { properties: { price: { type: ['string', 'number'] } }, required: ['sku', 'quantity', 'price'] },
    Placed: { properties: { lines: { type: 'array', items: reference('LineResponse') } } },
    LineResponse: { properties: { price: { type: 'number', format: 'decimal' } } },
  });
});

it('openapi() says the limit of idempotency(), if that takes less than bindRequest()', () => {
  const app = express().post('/', idempotency({ maxRequestBytes: 2_048 }), bindRequest(Scan, { allowFormData: true }));
  expect(documentOf(app).paths).toMatchObject({
    '/': {
      post: {
        requestBody: { description: 'A body has at most 2 KiB, a multipart form at most 2 KiB with its files.' },
      },
    },
  });
});
