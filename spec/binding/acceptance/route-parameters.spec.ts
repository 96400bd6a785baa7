import type { Request } from 'express';
import { dto, guid, int, routeParam, routeValue, string, type AnyType, type ParseResult } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';
import { asking } from './without-dto';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Sku {
  constructor(readonly code: string) {}

  static tryParse(text: string | undefined): ParseResult<Sku> {
    return /^[A-Z]{3}\d$/.test(text ?? '') ? { success: true, value: new Sku(text ?? '') } : { success: false };
  }
}

class Order extends dto({ customerId: int, orderId: routeParam(guid), note: string }) {}

describe.each(expressVersions)('%s', (_framework, framework) => {
  it('parameters of the template bind to properties of the same name', async () => {
    const { dto: bound } = await bind(
      Order,
      { path: `/42/orders/${ID}`, json: { note: 'x' } },
      { framework, route: '/:CustomerId/orders/:orderId' },
    );
    expect(bound).toBeInstanceOf(Order);
    expect(bound).toEqual({ customerId: 42, orderId: ID, note: 'x' });
  });
});

describe.each(expressVersions)('without a dto, %s', (_framework, framework) => {
  const reading = (path: string, read: (req: Request) => unknown) =>
    asking(framework, path === '/' ? '/' : '/:id', path, read);

  it.each<[string, AnyType, string, string]>([
    ['cannot be parsed', int, '/4x', 'The value "4x" is not a whole number from -2147483648 to 2147483647.'],
    ['is refused by its tryParse', Sku, '/tea', 'The value "tea" is not a Sku.'],
    ['is missing', int, '/', 'This route parameter is required.'],
  ])(
    'a value that %s is answered with a validation failure, unless it is not required',
    async (_what, type, path, detail) => {
      expect(await reading(path, req => routeValue(req, 'id', type))).toEqual({
        status: 400,
        errors: [{ name: 'id', in: 'route', detail }],
      });
      expect(await reading(path, req => routeValue(req, 'id', type, { required: true }))).toMatchObject({
        status: 400,
      });
      expect(await reading(path, req => routeValue(req, 'id', type, { required: false }))).toEqual({
        value: 'nothing',
      });
    },
  );
});
