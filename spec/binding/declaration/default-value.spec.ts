import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import {
  BigNumber,
  bindRequest,
  dateTime,
  decimal,
  dto,
  field,
  fromForm,
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
import { documentOf } from '../../support/described';
import { bind, urlEncoded } from '../../support/one-endpoint';

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

describe.each<[string, (make: () => number) => DtoClass<{ v: unknown; n: number }>]>([
  ['dto({...})', make => class extends dto({ v: field(int, { default: make }), n: int }) {}],
  [
    'a decorator',
    make => {
      class Decorated {
        @field(int, { default: make }) v: unknown;
        @field(int) n!: number;
      }
      return Decorated;
    },
  ],
  [
    'a decorator of a base class',
    make => {
      class Base {
        @field(int, { default: make }) v: unknown;
      }
      return class extends Base {
        @field(int) n!: number;
      };
    },
  ],
])('a function that makes a default is called where no source has the value (%s)', (_how, declare) => {
  const counted = () => {
    let calls = 0;
    const One = declare(() => ++calls);
    class Outer extends dto({ in: One, more: field(list(One), { default: [] }) }) {}
    return { One, Outer, calls: () => calls };
  };

  it('not when the middleware is made and described', () => {
    const { One, Outer, calls } = counted();
    documentOf(express().post('/a', bindRequest(One)).post('/b', bindRequest(Outer)));
    expect(calls()).toBe(0);
  });

  it('at the root', async () => {
    const { One, calls } = counted();
    expect((await bind(One, { json: { v: 7, n: 1 } })).dto).toEqual({ v: 7, n: 1 });
    expect((await bind(One, { json: { v: 'x', n: 1 } })).status).toBe(400);
    expect((await bind(One, { json: {} })).status).toBe(400);
    expect(calls()).toBe(0);
    expect((await bind(One, { json: { n: 1 } })).dto).toEqual({ v: 1, n: 1 });
    expect(calls()).toBe(1);
  });

  it('in a nested dto and in the items of a list', async () => {
    const { Outer, calls } = counted();
    const full = { v: 7, n: 1 };
    expect((await bind(Outer, { json: { in: full, more: [full] } })).dto).toEqual({ in: full, more: [full] });
    expect((await bind(Outer, { json: { in: {}, more: [{ n: 'x' }] } })).status).toBe(400);
    expect(calls()).toBe(0);
    class Form extends dto({ all: fromForm(Outer) }) {}
    const form = 'in.n=1&more[0].n=2&more[1].n=3&more[1].v=7';
    expect((await bind(Form, { form }, urlEncoded)).dto?.all).toEqual({
      in: { v: 1, n: 1 },
      more: [
        { v: 2, n: 2 },
        { v: 7, n: 3 },
      ],
    });
    expect(calls()).toBe(2);
  });

  it('in instances that the application makes, also while bindonce makes one', async () => {
    const { One, calls } = counted();
    expect([new One().v, calls()]).toEqual([1, 1]);
    class Holder extends dto({ n: int }) {
      readonly held = new One();
    }
    expect((await bind(Holder, { json: { n: 1 } })).dto?.held.v).toBe(calls());
  });

  it('in the context of the request only', async () => {
    const locales = new AsyncLocalStorage<number>();
    const One = declare(() => locales.getStore() as number);
    const before: RequestHandler[] = [(_req, _res, next) => locales.run(49, next)];
    expect((await bind(One, { json: { n: 1 } }, { before })).dto).toEqual({ v: 49, n: 1 });
    expect(Object.keys((await bind(One, { json: { n: 1 } })).dto ?? {})).toEqual(['n']);
  });
});

it('a default that a function makes takes no value away from a setter', async () => {
  class Stored extends dto({ v: field(int, { default: () => 1 }) }) {
    stored: number | undefined;
  }
  Object.defineProperty(Stored.prototype, 'v', {
    set(this: Stored, value: number) {
      this.stored = value;
    },
  });
  expect((await bind(Stored, { json: { v: 7 } })).dto?.stored).toBe(7);
  expect((await bind(Stored, { json: {} })).dto?.stored).toBe(1);
});

it('a setter of a derived class is not called for a default that a function has not made', async () => {
  class Base extends dto({ v: field(string, { default: () => 'x' }) }) {}
  class Trimmed extends Base {
    trimmed: string | undefined;
  }
  Object.defineProperty(Trimmed.prototype, 'v', {
    set(this: Trimmed, value: string) {
      this.trimmed = value.trim();
    },
  });
  expect((await bind(Trimmed, { json: { v: ' a ' } })).dto?.trimmed).toBe('a');
});

it('an initialiser that reads a default which a function makes fails with the reason', () => {
  class Order extends dto({ tags: field(list(int), { default: () => [] }) }) {
    count = this.tags.length;
  }
  expect(new Order().count).toBe(0);
  expect(() => bindRequest(Order)).toThrow(
    'Order: its constructor failed when called without arguments, and without the defaults that functions make: ',
  );
});
