import express from 'express';
import {
  bindRequest,
  decimal,
  dto,
  field,
  int,
  lazy,
  list,
  optional,
  string,
  type AnyType,
  type BindingOptions,
} from '../../lib';
import { documentOf, operationOf } from '../support/described';

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

  it('without the limits of an endpoint: others share it', async () => {
    const { schemas, requestBody } = await operationOf(dto({ all: list(Basket) }));
    expect(JSON.stringify(schemas)).not.toContain('maxItems');
    expect(JSON.stringify(requestBody)).toContain('maxItems');
  });
});
