import express, { type Request, type Response } from 'express';
import {
  bindRequest,
  configure,
  dto,
  generatedContexts,
  int,
  serializerContext,
  type BindingOptions,
} from '../../../lib';
import { ask } from '../../support/ask';

class Place extends dto({ itemCount: int }) {}
class View extends dto({ itemCount: int }) {}

const snake: BindingOptions = { propertyNamingPolicy: 'snake_case' };

it('an endpoint that names no context uses the one of its dto', async () => {
  const registerContexts = generatedContexts([
    serializerContext({ request: View }),
    serializerContext({ request: Place, responses: { 200: View } }),
  ]);
  const app = express().post(
    '/',
    configure({ binding: registerContexts(snake) }).bindRequest(Place),
    (req: Request, res: Response) => {
      const { itemCount } = req.dto as Place;
      res.json({ itemCount, passwordHash: 'secret' });
    },
  );
  expect((await ask(app, { json: { item_count: 1 } })).text).toBe('{"item_count":1}');
});

it('contexts of several projects are registered one after the other, and do not change the options', () => {
  const orders = generatedContexts([serializerContext({ request: Place })]);
  const views = generatedContexts([serializerContext({ request: View })]);
  const { contexts, propertyNamingPolicy } = views(orders(snake));
  expect([contexts?.length, propertyNamingPolicy, snake.contexts]).toEqual([2, 'snake_case', undefined]);
});

it('contexts that are none are refused', () => {
  expect(() => bindRequest(Place, { contexts: [{}] } as unknown as BindingOptions)).toThrow(
    'contexts must be an array of serializer contexts',
  );
});
