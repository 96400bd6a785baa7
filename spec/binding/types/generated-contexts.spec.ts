import express, { type Request, type Response } from 'express';
import {
  bindRequest,
  configure,
  dto,
  generatedContexts,
  int,
  serializerContext,
  string,
  type BindingOptions,
} from '../../../lib';
import { CodeCollection, collecting, type CodeFunction } from '../../../lib/binding/reading/compile';
import { ask } from '../../support/ask';

class Place extends dto({ itemCount: int }) {}
class View extends dto({ orderId: string }) {}

const snake: BindingOptions = { propertyNamingPolicy: 'snake_case' };

/** The function that registers the code for a request of one class, as a generated module has it. */
function generatedFor(Dto: typeof Place) {
  const collection = new CodeCollection();
  collecting.collection = collection;
  try {
    bindRequest(Dto, snake);
  } finally {
    delete collecting.collection;
  }
  return generatedContexts(
    Object.fromEntries(
      [...collection.texts].map(([fingerprint, { text }]) => [fingerprint, (0, eval)(text) as CodeFunction]),
    ),
  );
}

describe('contexts that throw if they are stale', () => {
  const strict = generatedFor(Place)(snake, { whenStale: 'throw' });

  it('refuse a middleware and a context for another class', () => {
    expect(() => bindRequest(Place, strict)).not.toThrow();
    expect(() => bindRequest(View, strict)).toThrow('bindRequest: the generated contexts have no code for View');
    expect(() => serializerContext({ request: View, ...strict })).toThrow('have no code for View');
  });

  it('leave a response of another class to be written by its declaration', async () => {
    const app = express().post('/', bindRequest(Place, strict), (req: Request, res: Response) => {
      const { itemCount } = req.dto as Place;
      res.json(Object.assign(new View(), { orderId: `o${itemCount}`, passwordHash: 'secret' }));
    });
    expect((await ask(app, { json: { item_count: 1 } })).text).toBe('{"order_id":"o1"}');
  });

  it('leave another class to be read as a single value', async () => {
    const { queryValue } = configure({ binding: strict });
    const app = express().get('/', (req, res) => {
      res.json(queryValue(req, 'v', View));
    });
    expect((await ask(app, { method: 'GET', path: '/?v={"order_id":"o1"}' })).body).toEqual({ orderId: 'o1' });
  });

  it('leave another class to be bound without a middleware', async () => {
    const { bind } = configure({ binding: strict });
    expect(await bind(View, { body: '{"order_id":"o1"}' })).toEqual(Object.assign(new View(), { orderId: 'o1' }));
  });
});

it('contexts of several projects are registered one after the other, and do not change the options', () => {
  const [orders, views] = [generatedContexts({}), generatedContexts({})];
  const { contexts, propertyNamingPolicy } = views(orders(snake));
  expect([contexts.length, propertyNamingPolicy, snake.contexts]).toEqual([2, 'snake_case', undefined]);
});

it.each([
  [{ whenStale: 'ignore' }, 'registerContexts: whenStale must be "warn" or "throw", not "ignore"'],
  [{ whenstale: 'throw' }, 'registerContexts: there is no option "whenstale"; did you mean "whenStale"?'],
])('%j is refused', (registration, message) => {
  expect(() => generatedContexts({})({}, registration as object)).toThrow(new TypeError(message));
});

it('contexts that are none are refused', () => {
  expect(() => bindRequest(Place, { contexts: [{}] } as unknown as BindingOptions)).toThrow(
    'contexts must be what the generated registerContexts() makes of the options',
  );
});
