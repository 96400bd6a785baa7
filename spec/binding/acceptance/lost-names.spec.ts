import { z } from 'zod';
import { dto, file, list, optional, string, fromForm, type AnyType } from '../../../lib';
import { pairs } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { refused, threeWays, type Names } from './three-ways';

class Item extends dto({ sku: string }) {}
class Order extends dto({ items: list(Item) }) {}
class Deep extends dto({ orders: list(Order), order: optional(Order) }) {}
const detail = 'The names below do not say which item they belong to. Number the items, starting with [0].';

const shapes: readonly [string, AnyType, AnyType][] = [
  ['a dto', Order, Deep],
  [
    'zod',
    z.object({ items: z.array(z.object({ sku: z.string() })) }),
    z.object({
      orders: z.array(z.object({ items: z.array(z.object({ sku: z.string() })) })).default([]),
      order: z.object({ items: z.array(z.object({ sku: z.string() })) }).optional(),
    }),
  ],
];

describe.each(shapes)(
  'a name that does not say which item it belongs to is refused, not lost: %s',
  (_shape, order, deep) => {
    it.each<[string, Names]>([
      ['by itself', [['items[].sku', 'tea']]],
      ['in brackets', [['items[][sku]', 'tea']]],
      ['beside an item', pairs('items[0].sku=a&items[].sku=tea')],
      ['beside empty brackets', pairs('items[]={"sku":"a"}&items[].sku=tea')],
    ])('%s', async (_where, names) => {
      expect(await threeWays(order, names)).toEqual(refused({ name: 'items', detail }));
    });

    it.each<[string, string]>([
      ['order.items[].sku', 'order.items'],
      ['orders[0].items[].sku', 'orders[0].items'],
      ['orders[].items[0].sku', 'orders'],
    ])('deeper down: %s', async (name, place) => {
      expect(await threeWays(deep, [[name, 'tea']])).toEqual(refused({ name: place, detail }));
    });
  },
);

it.each<[string, AnyType]>([
  ['a dto', dto({ photos: list(dto({ image: file })) })],
  ['a schema', z.object({ photos: z.array(z.object({ image: z.any() })) })],
])('a file whose name does not say which item it belongs to is refused: %s', async (_shape, album) => {
  class Upload extends dto({ all: fromForm(album) }) {}
  const { status, errors } = await bind(
    Upload,
    { multipart: [['photos[].image', new File(['x'], 'a.png')]] },
    urlEncoded,
  );
  expect([status, errors]).toEqual([400, [{ name: 'photos', in: 'form', detail }]]);
});
