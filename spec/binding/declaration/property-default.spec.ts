import { inspect } from 'node:util';
import { z } from 'zod';
import { dateTime, dto, field, fromForm, int, list, string, uri, type AnyType, type DtoClass } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Tagged extends dto({ tags: list(string) }) {}
class Price {
  constructor(readonly amount: unknown) {}
}
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

describe.each(ways)('a default is never shared between requests (%s)', (_how, declare) => {
  it.each<[what: string, type: AnyType, make: () => unknown, change: (value: never) => unknown]>([
    ['a URL', uri, () => new URL('https://a.example/'), (url: URL) => (url.host = 'b.example')],
    ['a Date', dateTime, () => new Date(0), (date: Date) => date.setTime(1)],
    ['an array', list(list(string)), () => [['a']], (all: string[][]) => all[0]?.push('b')],
    ['a plain object', anything, () => ({ in: { a: 1 } }), (object: { in: { a: number } }) => (object.in.a = 2)],
    [
      'what a function makes',
      Tagged,
      () => () => Object.assign(new Tagged(), { tags: ['a'] }),
      (tagged: Tagged) => tagged.tags.push('b'),
    ],
  ])('%s, at the root and in a nested dto', async (_what, type, make, change) => {
    const One = declare(type, make());
    class Outer extends dto({ in: One }) {}
    const values = [
      async () => (await bind(One, { json: {} })).dto?.v,
      async () => (await bind(Outer, { json: { in: {} } })).dto?.in.v,
    ];
    for (const value of values) {
      const before = inspect(await value());
      change((await value()) as never);
      expect(inspect(await value())).toBe(before);
    }
  });

  it.each<[string, object, string]>([
    ['an instance of a class', new Price(5), 'Price'],
    ['one in a list', [1, new Price(5)], 'Price'],
    ['one in an object', { price: new Price(5) }, 'Price'],
    ['a dto', new Tagged(), 'Tagged'],
    ['a Map', new Map(), 'Map'],
  ])('%s is refused when it is declared', (_what, value, name) => {
    expect(() => declare(z.any(), value)).toThrow(
      new RegExp(`v"?: the default has an instance of ${name}, .* pass a function that makes the default`),
    );
    expect(() => declare(z.any(), () => value)).not.toThrow();
  });
});

it('a function makes the default of each dto that lacks the value, and of instances that the application makes', async () => {
  let made = 0;
  class One extends dto({ v: field(int, { default: () => ++made }), n: int }) {}
  class Outer extends dto({ in: One, more: field(list(One), { default: [] }) }) {}
  class Form extends dto({ all: fromForm(Outer) }) {}
  const { dto: bound } = await bind(Form, { form: 'in.n=1&more[0].n=2&more[1].n=3&more[1].v=-7' }, urlEncoded);
  const found = [bound?.all.in.v, ...(bound?.all.more.map(({ v }) => v) ?? [])];
  expect([new Set(found).size, found[2], new One().v]).toEqual([3, -7, made]);
});
