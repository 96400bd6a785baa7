import { inspect } from 'node:util';
import express from 'express';
import { z } from 'zod';
import {
  BigNumber,
  bindRequest,
  dateTime,
  decimal,
  dto,
  field,
  int,
  list,
  string,
  uri,
  Version,
  version,
  type AnyType,
  type DtoClass,
} from '../../../lib';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

describe('a default is never shared between requests', () => {
  class Tagged extends dto({ tags: list(string) }) {}
  class Price {
    constructor(readonly amount: unknown) {}
  }
  class Prices extends Map<string, number> {}
  const anything = { tryParse: () => ({ success: false }) as const };

  const ways: readonly [how: string, declare: (type: AnyType, value: unknown) => DtoClass<{ v: unknown }>][] = [
    ['dto({...})', (type, value) => class extends dto({ v: field(type, { default: value }) }) {}],
    [
      'a decorator',
      (type, value) => {
        class Decorated {
          @field(type, { default: value }) v: unknown;
        }
        return Decorated;
      },
    ],
  ];
  const defaults: readonly [what: string, type: AnyType, make: () => unknown, change: (value: never) => unknown][] = [
    [
      'a URL',
      uri,
      () => new URL('https://a.example/'),
      (url: URL) => {
        url.host = 'b.example';
      },
    ],
    ['a Date', dateTime, () => new Date(0), (date: Date) => date.setTime(1)],
    ['a Map', anything, () => new Map([['a', ['b']]]), (map: Map<string, string[]>) => map.get('a')?.push('c')],
    [
      'a Map that holds a number and objects',
      anything,
      () =>
        new Map<string, unknown>([
          ['fee', new BigNumber('1.5')],
          ['in', { a: 1 }],
        ]),
      (map: Map<string, { a: number }>) => Object.assign(map.get('in') ?? {}, { a: 2 }),
    ],
    [
      'a Map that holds a function',
      anything,
      () => new Map([['now', Date.now]]),
      (map: Map<string, unknown>) => map.clear(),
    ],
    ['a Set of objects', anything, () => new Set([{ a: 1 }]), (set: Set<{ a: number }>) => set.forEach(one => one.a++)],
    ['URLSearchParams', anything, () => new URLSearchParams('a=1'), (pairs: URLSearchParams) => pairs.append('a', '2')],
    [
      'an ArrayBuffer',
      anything,
      () => new Uint8Array([1]).buffer,
      (bytes: ArrayBuffer) => new Uint8Array(bytes).fill(0),
    ],
    ['a Set', anything, () => new Set(['a']), (set: Set<string>) => set.add('b')],
    ['a Buffer', anything, () => Buffer.from('a'), (bytes: Buffer) => bytes.fill(0)],
    ['an array of bytes', anything, () => new Uint8Array([1]), (bytes: Uint8Array) => bytes.fill(0)],
    ['an array', list(list(string)), () => [['a']], (all: string[][]) => all[0]?.push('b')],
    [
      'a plain object',
      anything,
      () => ({ in: { a: 1 } }),
      (object: { in: { a: number } }) => {
        object.in.a = 2;
      },
    ],
    [
      'an instance of a dto class',
      Tagged,
      () => Object.assign(new Tagged(), { tags: ['a'] }),
      (tagged: Tagged) => tagged.tags.push('b'),
    ],
  ];

  describe.each(ways)('with %s', (_how, declare) => {
    it.each(defaults)('%s, at the root and in a nested dto', async (_what, type, make, change) => {
      const One = declare(type, make());
      class Outer extends dto({ in: One }) {}
      const values = [
        async () => (await bind(One, { json: {} })).dto?.v,
        async () => (await bind(Outer, { json: { in: {} } })).dto?.in.v,
      ];
      for (const value of values) {
        change((await value()) as never);
        expect(inspect(await value())).toBe(inspect(make()));
      }
    });

    it('an instance of a dto class with private fields has them in each copy, and no other properties', async () => {
      class Secret extends dto({ x: int, y: int }) {
        override y = 1;
        #times = 0;
        get times(): number {
          return ++this.#times;
        }
      }
      const value = Object.assign(new Secret(), { x: 5 });
      Reflect.deleteProperty(value, 'y');
      const One = declare(Secret, value);
      for (let request = 0; request < 2; request++) {
        const v = (await bind(One, { json: {} })).dto?.v as Secret;
        expect([v instanceof Secret, Object.entries(v), v.times]).toEqual([true, [['x', 5]], 1]);
      }
    });

    it('a function makes a default for each request', async () => {
      let made = 0;
      const One = declare(int, () => ++made);
      class Outer extends dto({ v: field(int, { default: () => ++made }), in: One }) {}
      const app = express().post('/', bindRequest(Outer), (req, res) => {
        res.json([req.dto.v, req.dto.in.v]);
      });
      const answer = async () => (await ask(app, { json: { in: {} } })).body as number[];
      const [first, second] = [await answer(), await answer()];
      expect(second).toEqual(first.map(value => value + 2));
      expect(new Set([...first, ...second]).size).toBe(4);
    });

    it.each<[string, AnyType, object]>([
      ['a decimal', decimal, new BigNumber('1.5')],
      ['a version', version, new Version(1, 2)],
      ['an instance that is frozen', anything, Object.freeze(new Price(5))],
      ['an instance that is frozen with what it holds', anything, Object.freeze(new Price(Object.freeze([5])))],
    ])('%s cannot be changed, and is the value itself', async (_what, type, value) => {
      expect((await bind(declare(type, value), { json: {} })).dto?.v).toBe(value);
    });

    it.each<[string, object, string]>([
      ['an instance of another class', new Price(5), 'Price'],
      ['one in a list', [1, new Price(5)], 'Price'],
      ['one in an object in a Map', new Map([['a', { price: new Price(5) }]]), 'Price'],
      ['one in a Set', new Set([new Price(5)]), 'Price'],
      ['one in a dto', Object.assign(new Tagged(), { tags: [new Price(5)] }), 'Price'],
      ['one that is frozen, but not what it holds', Object.freeze(new Price([5])), 'Price'],
      ['a Map of a derived class', new Prices(), 'Prices'],
      ['a Map of a derived class that is frozen', Object.freeze(new Prices()), 'Prices'],
      ['a promise', Promise.resolve(1), 'Promise'],
    ])('%s is refused when it is declared', (_what, value, name) => {
      expect(() => declare(z.any(), value)).toThrow(
        new RegExp(`v"?: the default has an instance of ${name}, .* pass a function that makes the default, or freeze`),
      );
      expect(() => declare(z.any(), () => value)).not.toThrow();
    });
  });
});
