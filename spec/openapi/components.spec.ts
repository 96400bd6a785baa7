import express from 'express';
import { bindRequest, decimal, dto, field, int, lazy, list, optional, string } from '../../lib';
import type { AnyType, BindingOptions } from '../../lib';
import { documentOf } from '../support/described';

class Line extends dto({ sku: string, quantity: int }) {}

describe('openapi() names the schema of a class', () => {
  class Money extends dto({ amount: decimal }) {}
  class Basket extends dto({ lines: field(list(Line)), next: optional(lazy((): AnyType => Basket)) }) {}

  const namesIn = (app: express.Express): string[] => {
    const { schemas } = documentOf(app)['components'] as { schemas: object };
    return Object.keys(schemas).filter(name => !['Problem', 'InvalidValue'].includes(name));
  };
  const reads = (Dto: AnyType, options: BindingOptions = {}): express.RequestHandler =>
    bindRequest(dto({ value: field(Dto) }), options) as express.RequestHandler;
  const answers = (Dto: AnyType): express.RequestHandler =>
    bindRequest(dto({ q: optional(int) }), { responses: { 200: Dto } }) as express.RequestHandler;

  it.each<[string, (app: express.Express) => unknown, string[]]>([
    [
      'once, whatever the limits of its endpoints are',
      app => app.post('/a', reads(Basket)).post('/b', reads(Basket, { limits: { items: 5 } })),
      ['Basket', 'Line'],
    ],
    [
      'once for requests and responses, if they are equal',
      app => app.post('/a', reads(Basket)).get('/a', answers(Basket)),
      ['Basket', 'Line'],
    ],
    ['plainly, if only responses have it', app => app.get('/a', answers(Money)), ['Money']],
    [
      'with a suffix in responses, if requests have another one',
      app => app.post('/a', reads(Money)).get('/a', answers(Money)),
      ['Money', 'MoneyResponse'],
    ],
    [
      'with a number, if another request has another one',
      app => app.post('/a', reads(Line)).post('/b', reads(Line, { propertyNamingPolicy: 'PascalCase' })),
      ['Line', 'Line2'],
    ],
  ])('%s', (_what, mount, names) => {
    const app = express();
    mount(app);
    expect(namesIn(app)).toEqual(names);
  });
});

it('openapi() names schemas, also those of bodies, in the same way in every order of the routes', () => {
  class Address extends dto({ city: string }) {}
  const Other = { Address: class Address extends dto({ zip: int }) {} }.Address;
  class Customer extends dto({ address: Address }) {}
  const Copy = { Customer: class Customer extends dto({ address: Other }) {} }.Customer;
  class Node extends dto({ name: string, children: field(list(lazy((): AnyType => Node)), { required: false }) }) {}
  const routes: [string, AnyType, BindingOptions][] = [
    ['/a', Customer, { responses: { 200: Other } }],
    ['/b', Copy, { responses: { 200: Address } }],
    ['/c', Address, { propertyNamingPolicy: 'PascalCase' }],
    ['/d', Node, { allowFormData: true, responses: { 200: list(Node) } }],
    ['/e', dto({ amount: decimal }), { responses: { 200: Customer } }],
  ];
  const documentIn = (order: typeof routes): string => {
    const app = express();
    for (const [path, Dto, options] of order) app.post(path, bindRequest(Dto, options) as express.RequestHandler);
    const { paths, components } = documentOf(app);
    return JSON.stringify([Object.entries(paths).sort(([one], [other]) => (one < other ? -1 : 1)), components]);
  };
  const first = documentIn(routes);
  const names = Object.keys((JSON.parse(first) as [unknown, { schemas: object }])[1].schemas);
  expect(names.slice(2).sort()).toEqual(
    ['Address', 'Address2', 'Address3', 'Customer', 'Customer2', 'Node', 'NodeForm'].sort(),
  );
  for (let turn = 1; turn < routes.length; turn++)
    expect(documentIn([...routes.slice(turn), ...routes.slice(0, turn)])).toBe(first);
  expect(documentIn([...routes].reverse())).toBe(first);
});
