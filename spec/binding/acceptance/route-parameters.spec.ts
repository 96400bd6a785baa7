import type { Request } from 'express';
import {
  bool,
  configure,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  field,
  guid,
  int,
  list,
  long,
  routeParam,
  routeValue,
  string,
  timeSpan,
  uri,
  valueParserFor,
  version,
  Version,
  type AnyType,
  type ParseResult,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';
import { asking } from './without-dto';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
enum Color {
  Red,
  Green,
}

class Sku {
  constructor(readonly code: string) {}

  static tryParse(text: string | undefined): ParseResult<Sku> {
    return /^[A-Z]{3}\d$/.test(text ?? '') ? { success: true, value: new Sku(text ?? '') } : { success: false };
  }
}

class Order extends dto({ customerId: int, orderId: routeParam(guid), note: string }) {}
class DecoratedOrder {
  @field(int) customerId!: number;
  @routeParam(guid) orderId!: string;
  @field(string) note!: string;
}

describe.each(expressVersions)('%s', (_framework, framework) => {
  it.each([
    ['dto({...})', Order],
    ['decorators', DecoratedOrder],
  ])('parameters of the template bind to properties of the same name: %s', async (_notation, Dto) => {
    const { dto: bound } = await bind(
      Dto,
      { path: `/42/orders/${ID}`, json: { note: 'x' } },
      { framework, route: '/:CustomerId/orders/:orderId' },
    );
    expect(bound).toBeInstanceOf(Dto);
    expect(bound).toEqual({ customerId: 42, orderId: ID, note: 'x' });
  });
});

it.each<[string, AnyType, string, unknown]>([
  ['bool', bool, 'TRUE', true],
  ['int', int, '-42', -42],
  ['long', long, '9007199254740993', 9_007_199_254_740_993n],
  ['double', double, '1.5e3', 1500],
  ['string', string, 'caf%C3%A9%20%2F', 'café /'],
  ['guid', guid, ID.toUpperCase(), ID],
  ['dateTime', dateTime, '2026-11-21', new Date('2026-11-21T00:00:00Z')],
  ['timeSpan', timeSpan, '01:30:00', 5_400_000],
  ['uri', uri, 'https%3A%2F%2Fexample.org%2Fa', new URL('https://example.org/a')],
  ['enum', enumOf(Color), 'green', Color.Green],
  ['class with tryParse', Sku, 'TEA1', new Sku('TEA1')],
])('the text of the path converts to %s', async (_type, type, text, value) => {
  class Dto extends dto({ v: field(type) }) {}
  expect((await bind(Dto, { method: 'GET', path: `/${text}` }, { route: '/:v' })).dto).toEqual({ v: value });
});

it('the text of the path converts to decimal and version', async () => {
  class Release extends dto({ price: decimal, release: version }) {}
  const { dto: bound } = await bind(
    Release,
    { method: 'GET', path: '/0.1000000000000000055/1.20.3' },
    { route: '/:price/:release' },
  );
  expect([bound?.price.toFixed(), bound?.release instanceof Version, String(bound?.release)]).toEqual([
    '0.1000000000000000055',
    true,
    '1.20.3',
  ]);
});

it('text that does not convert is a failure', async () => {
  const {
    status,
    errors,
    dto: bound,
  } = await bind(Order, { path: '/4x/orders/7', json: { note: 'x' } }, { route: '/:customerId/orders/:orderId' });
  expect({ status, errors, bound }).toEqual({
    status: 400,
    bound: undefined,
    errors: [
      {
        name: 'customerId',
        in: 'route',
        detail: 'The value "4x" is not a whole number from -2147483648 to 2147483647.',
      },
      {
        name: 'orderId',
        in: 'route',
        detail: 'The value "7" is not a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.',
      },
    ],
  });
});

class Renamed extends dto({
  customerId: field(int, { bindFrom: 'cid' }),
  orderId: routeParam(int, { bindFrom: 'oid' }),
}) {}
class DecoratedRenamed {
  @field(int, { bindFrom: 'cid' }) customerId!: number;
  @routeParam(int, { bindFrom: 'oid' }) orderId!: number;
}

it.each([
  ['dto({...})', Renamed],
  ['decorators', DecoratedRenamed],
])('bindFrom maps a differing parameter name: %s', async (_notation, Dto) => {
  expect((await bind(Dto, { path: '/1/2/3/4' }, { route: '/:cid/:oid/:customerId/:orderId' })).dto).toEqual({
    customerId: 1,
    orderId: 2,
  });
  expect((await bind(Dto, { path: '/x/2' }, { route: '/:cid/:oid' })).errors).toMatchObject([
    { name: 'cid', in: 'route' },
  ]);
});

describe.each(expressVersions)('without a dto, %s', (_framework, framework) => {
  const reading = (path: string, read: (req: Request) => unknown) =>
    asking(framework, path === '/' ? '/' : '/:id', path, read);

  it.each<[string, AnyType, string, unknown]>([
    ['an int', int, '/42', 42],
    ['a guid', guid, `/${ID.toUpperCase()}`, ID],
    ['a list', list(int), '/1,2', [1, 2]],
    ['a class with tryParse', Sku, '/TEA1', { code: 'TEA1' }],
  ])('routeValue reads %s', async (_what, type, path, value) => {
    for (const name of ['id', 'ID']) expect(await reading(path, req => routeValue(req, name, type))).toEqual({ value });
  });

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

  it('a value whose type has no parse method is answered with a validation failure, unless it is not required', async () => {
    class Unreadable {
      readonly code = 1;
    }
    expect(await reading('/42', req => routeValue(req, 'id', Unreadable))).toMatchObject({
      status: 400,
      errors: [{ name: 'id', in: 'route' }],
    });
    expect(await reading('/42', req => routeValue(req, 'id', Unreadable, { required: false }))).toEqual({
      value: 'nothing',
    });
  });

  it('the same holds for a class with a member of such a type, every time', async () => {
    class Unreadable {
      readonly code = 1;
    }
    class Outer extends dto({ inner: Unreadable }) {}
    for (let time = 0; time < 3; time++)
      expect(await reading('/{}', req => routeValue(req, 'id', Outer))).toMatchObject({
        status: 400,
        errors: [{ name: 'id', in: 'route' }],
      });
  });

  it('routeValue of configure() uses the value parsers of the application', async () => {
    const { routeValue: read } = configure({
      binding: { valueParsers: [valueParserFor(Sku, text => ({ success: true, value: new Sku(`parsed ${text}`) }))] },
    });
    expect(await reading('/x', req => read(req, 'id', Sku))).toEqual({ value: { code: 'parsed x' } });
  });
});
