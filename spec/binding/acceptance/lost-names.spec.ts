import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, file, list, optional, string, fromForm, type AnyType } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { all, refused, threeWays, type Names } from './three-ways';

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
  [
    'zod with a default',
    z.object({ items: z.array(z.object({ sku: z.string() })).default([]) }),
    z.object({ orders: z.array(z.object({ items: z.array(z.any()).default([]) })).default([]), order: z.any() }),
  ],
  [
    'valibot',
    v.object({ items: v.array(v.object({ sku: v.string() })) }),
    v.object({ orders: v.optional(v.array(v.object({ items: v.array(v.any()) }))), order: v.any() }),
  ],
  [
    'arktype',
    type({ items: type({ sku: 'string' }).array() }),
    type({ 'orders?': type({ items: 'object[]' }).array(), 'order?': type({ items: 'object[]' }) }),
  ],
];

describe.each(shapes)(
  'a name that does not say which item it belongs to is refused, not lost: %s',
  (_shape, order, deep) => {
    it.each<[string, Names]>([
      ['by itself', [['items[].sku', 'tea']]],
      ['in brackets', [['items[][sku]', 'tea']]],
      [
        'beside an item',
        [
          ['items[0].sku', 'a'],
          ['items[].sku', 'tea'],
        ],
      ],
      [
        'beside empty brackets',
        [
          ['items[]', '{"sku":"a"}'],
          ['items[].sku', 'tea'],
        ],
      ],
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

it('a name of an item without an index is refused beside items that have one', async () => {
  expect(
    await threeWays(Order, [
      ['items[0].sku', 'a'],
      ['items.sku', 'tea'],
    ]),
  ).toEqual(refused({ name: 'items', detail }));
  expect(
    await threeWays(Order, [
      ['items[0].sku', 'a'],
      ['items.other', 'tea'],
    ]),
  ).toEqual(all({ items: [{ sku: 'a' }] }));
});

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

it('a schema at the root refuses it, too', async () => {
  class Search extends dto({ items: z.array(z.object({ sku: z.string() })).default([]) }) {}
  expect((await bind(Search, { method: 'GET', path: '/?items[].sku=tea' })).errors).toEqual([
    { name: 'items', in: 'query', detail },
  ]);
});
