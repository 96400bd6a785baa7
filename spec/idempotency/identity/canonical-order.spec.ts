import querystring from 'node:querystring';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import qs from 'qs';
import { z } from 'zod';
import { bind, dto, fromQuery, int, list, optional, Problem, string } from '../../../lib';
import { pairsInOrder } from '../../../lib/idempotency/identity/canonical';

/** What multer nests fields with. */
const appendField = createRequire(require.resolve('multer'))('append-field') as (
  body: object,
  name: string,
  value: string,
) => void;

class Item extends dto({ x: optional(string), y: optional(list(string)), 0: optional(string) }) {}
class Names extends dto({ a: optional(list(Item)), b: optional(Item), 'a.b': optional(list(int)) }) {}
class Everything extends dto({ everything: fromQuery(z.unknown()) }) {}
class Nested extends dto({ names: fromQuery(Names) }) {}
class Flat extends dto({ a: optional(list(string)), b: optional(string), 'a.b': optional(list(string)) }) {}

/** The dto, or the failures in any order. */
async function bound(Dto: typeof Everything | typeof Nested | typeof Flat, query: string): Promise<unknown> {
  try {
    return await bind<typeof Everything | typeof Nested | typeof Flat>(Dto, { query });
  } catch (error) {
    if (error instanceof Problem) return [error.code, (error.errors ?? []).map(one => JSON.stringify(one)).sort()];
    throw error;
  }
}

const readers: Readonly<Record<string, (query: string) => unknown>> = {
  'the query parser of Express, `extended`': query => qs.parse(query, { allowPrototypes: true }),
  'express.urlencoded({ extended: true })': query => {
    const arrayLimit = Math.max(100, query.split('&').length);
    return qs.parse(query, { allowPrototypes: true, arrayLimit, depth: 32 });
  },
  'express.urlencoded({ extended: false })': query => qs.parse(query, { allowPrototypes: true, depth: 0 }),
  'qs.parse()': query => qs.parse(query),
  'qs with dots': query => qs.parse(query, { allowDots: true }),
  'qs with other limits': query => qs.parse(query, { allowDots: true, depth: 1, arrayLimit: 1 }),
  'qs without lists': query => qs.parse(query, { parseArrays: false, plainObjects: true }),
  querystring: query => ({ ...querystring.parse(query) }),
  URLSearchParams: query => {
    const read = new URLSearchParams(query);
    read.sort();
    return [...read];
  },
  'multer, from a form': query => {
    const body = {};
    for (const [name, value] of new URLSearchParams(`&${query}`)) appendField(body, name, value);
    return body;
  },
  'bindRequest, a schema': query => bound(Everything, query),
  'bindRequest, nested dtos': query => bound(Nested, query),
  'bindRequest, flat lists': query => bound(Flat, query),
};

const oddPart = fc.constantFrom(
  ...['.', '[', ']', '[]', '[01]', '.01', '[x.y]', '[x]y', '[[x]]', '%5Bx%5D', '%2Ex', '%FF', '%00'],
  ...['[__proto__]', '[hasOwnProperty]'],
);
const plainPart = fc.constantFrom(
  '.x',
  '.y',
  '.X',
  '.0',
  '.1',
  '[x]',
  '[X]',
  '[y]',
  '[0]',
  '[1]',
  '[2]',
  '[25]',
  '[30]',
);
const root = fc.constantFrom('a', 'b', 'A', 'a.b', '%61', '0', '', '[a]', '[]', '?a', 'a%3D', 'a%FE');
const nameOf = ([first, parts]: readonly [string, readonly string[]]): string => first + parts.join('');
const name = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('a', 'b'), fc.array(plainPart, { maxLength: 3 })).map(nameOf) },
  fc.tuple(root, fc.array(fc.oneof(plainPart, oddPart), { maxLength: 3 })).map(nameOf),
  fc.tuple(fc.constant('a'), fc.array(plainPart, { maxLength: 9 })).map(nameOf),
);
const value = fc.constantFrom('1', '2', '3', '', '1,2', '{"x":1}', '%FF', '[x]=4', '%5D=5');
/** More items than the lists of qs have. */
const items = fc
  .uniqueArray(fc.nat(30), { minLength: 2, maxLength: 25 })
  .chain(indexes => fc.constantFrom('', '[x]', '[0]').map(end => indexes.map(index => `a[${index}]${end}=${index}`)));
const pairs = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.array(
      fc.tuple(name, value).map(pair => pair.join('=')),
      { minLength: 2, maxLength: 6 },
    ),
  },
  items,
  fc.tuple(items, fc.tuple(name, value)).map(([some, other]) => [...some, other.join('=')]),
);
const inTwoOrders = pairs.chain(one => fc.tuple(fc.constant(one), fc.shuffledSubarray(one, { minLength: one.length })));

describe('two queries', () => {
  it.each([
    ['a=1&b=2', 'b=2&a=1'],
    ['a=1&b=2&a=3', 'a=1&a=3&b=2'],
    ['a[0]=1&b=2&a[1]=3', 'b=2&a[0]=1&a[1]=3'],
    ['a%5B0%5D=1&b=2', 'b=2&a%5B0%5D=1'],
    ['a.x=1&b=2&a.y=3', 'b=2&a.x=1&a.y=3'],
    ['', '&&'],
  ])('%p and %p are one', (one, other) => {
    expect(pairsInOrder(one)).toEqual(pairsInOrder(other));
  });

  it.each([
    ['a=1', 'A=1'],
    ['a=1&A=2', 'A=2&a=1'],
    ['a=1&a=2', 'a=2&a=1'],
    ['a=1&a[]=2', 'a[]=2&a=1'],
    ['a[x]=1&a[y]=2', 'a[y]=2&a[x]=1'],
    ['a=1&%61=2', '%61=2&a=1'],
    ['[a]=1&a=2', 'a=2&[a]=1'],
    ['?a=1&a=2', 'a=2&?a=1'],
    ['a=+', 'a=%20'],
    ['a=%FF', 'a=%FE'],
    ['=1', '1='],
  ])('%p and %p are two', (one, other) => {
    expect(pairsInOrder(one)).not.toEqual(pairsInOrder(other));
  });
});

it('queries that count as the same one are read alike by every parser', async () => {
  let alike = 0;
  await fc.assert(
    fc.asyncProperty(inTwoOrders, async orders => {
      const [one, other] = orders.map(order => order.join('&')) as [string, string];
      if (one === other || !isDeepStrictEqual(pairsInOrder(one), pairsInOrder(other))) return;
      alike++;
      for (const [reader, read] of Object.entries(readers)) {
        const both = [await read(one), await read(other)];
        if (!isDeepStrictEqual(both[0], both[1]))
          throw new Error(
            `${reader} reads ${one} and ${other} as ${both.map(read => JSON.stringify(read)).join(' and ')}`,
          );
      }
    }),
    { numRuns: 5_000 },
  );
  // Otherwise nothing was compared.
  expect(alike).toBeGreaterThan(100);
});
