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
const refusal = (example: unknown, ...titles: string[]) => ({
  description: titles.map(one => `${one}.`).join(' '),
  content: { 'application/problem+json': { schema: reference('Problem'), ...(example !== undefined && { example }) } },
});
const missing = (name: string, where: object) => ({
  type: 'urn:bindonce:validation-failed',
  title: 'One or more values are not valid',
  status: 400,
  detail: 'One value is not valid.',
  errors: [{ name, ...where }],
});
const headers = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 0 } },
};
const others = {
  ...refusal(
    undefined,
    'A problem that hardly any client meets: 413 Payload Too Large, 414 URI Too Long, 415 Unsupported Media Type, ' +
      '503 Service Unavailable, 507 Insufficient Storage',
  ),
  headers,
};

const order = {
  operationId: 'postCustomersByCustomerIdOrders',
  summary: 'Places an order',
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
    required: true,
    content: { 'application/json': { schema: reference('PlaceOrder') } },
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
      missing('X-Tenant', { in: 'header', detail: 'This header is missing from the request.' }),
      'One or more values are not valid',
      'Request body is malformed',
      'Idempotency key is missing',
      'Idempotency key is repeated',
      'Idempotency key is malformed',
    ),
    409: {
      ...refusal(
        expect.objectContaining({ status: 409 }),
        'A request with this idempotency key is in flight',
        'The response is no longer available',
      ),
      headers,
    },
    default: others,
  },
};

const scan = {
  operationId: 'postScans',
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: reference('ScanForm') } },
  },
  security: [{ caller: [] }],
  responses: {
    204: { description: 'The request was carried out.' },
    400: refusal(
      missing('title', { in: 'form', detail: 'A value is required.' }),
      'One or more values are not valid',
      'Request body is malformed',
    ),
    401: refusal(undefined, 'Authentication is required'),
    default: others,
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
  expect(Object.keys(schemas)).toEqual([
    ...['Problem', 'InvalidValue', 'Line', 'PlaceOrder', 'Placed', 'ScanForm', 'LineResponse'],
  ]);
  expect(schemas).toMatchObject({
    PlaceOrder: { properties: { items: { type: 'array', items: reference('Line') } }, required: ['items'] },
    ScanForm: {
      properties: { title: { type: 'string' }, picture: { format: 'binary' } },
      required: ['title', 'picture'],
    },
    Line: { properties: { price: { type: ['string', 'number'] } }, required: ['sku', 'quantity', 'price'] },
    Placed: { properties: { lines: { type: 'array', items: reference('LineResponse') } } },
    LineResponse: { properties: { price: { type: 'number', format: 'decimal' } } },
  });
});
