import { dto, enumOf, list, optional } from '../../../lib';
import { bind } from '../../support/one-endpoint';

enum Level {
  Low,
  High = 5,
  Top = -1,
}
enum Colour {
  Red = 'R',
  Blue = 'B',
}
const Shape = { Round: 'round', Square: 2 } as const;

class Choice extends dto({
  level: optional(enumOf(Level)),
  colour: optional(enumOf(Colour)),
  shape: optional(enumOf(Shape)),
  size: optional(enumOf(['S', 'M', 'L'])),
}) {}
type Name = keyof Choice;

it.each<[Name, string, unknown]>([
  ['level', 'Low', Level.Low],
  ['level', 'hIGH', Level.High],
  ['level', '5', Level.High],
  ['level', '0', Level.Low],
  ['level', '-1', Level.Top],
  ['level', ' top ', Level.Top],
  ['colour', 'Red', Colour.Red],
  ['colour', 'BLUE', Colour.Blue],
  ['colour', 'B', Colour.Blue],
  ['shape', 'round', 'round'],
  ['shape', 'SQUARE', 2],
  ['shape', '2', 2],
  ['size', 'S', 'S'],
  ['size', 'm', 'M'],
])('%s reads %j', async (name, text, value) => {
  expect((await bind(Choice, { method: 'GET', path: `/?${name}=${encodeURIComponent(text)}` })).dto?.[name]).toBe(
    value,
  );
});

it.each<[Name, string]>([
  ['level', '1'],
  ['level', '5.0'],
  ['level', 'Middle'],
  ['level', 'Low,High'],
  ['colour', 'r'],
  ['colour', 'Green'],
  ['shape', '3'],
  ['size', 'XL'],
  ['size', '__proto__'],
  ['level', 'constructor'],
  ['level', 'toString'],
])('%s refuses %s, which is not defined', async (name, text) => {
  const { status, errors } = await bind(Choice, { method: 'GET', path: `/?${name}=${text}` });
  expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name, in: 'query' }] });
});

it.each<[Name, unknown, unknown]>([
  ['level', 'low', Level.Low],
  ['level', 5, Level.High],
  ['colour', 'R', Colour.Red],
  ['shape', 2, 2],
  ['size', 'l', 'L'],
])('%s reads %j in JSON', async (name, sent, value) => {
  expect((await bind(Choice, { json: { [name]: sent } })).dto?.[name]).toBe(value);
});

it.each<[Name, unknown]>([
  ['level', 1],
  ['level', true],
  ['level', null],
  ['level', [0]],
  ['colour', 0],
  ['size', {}],
])('%s refuses %j in JSON, or has no value', async (name, sent) => {
  const { dto: bound } = await bind(Choice, { json: { [name]: sent } });
  expect(bound?.[name]).toBeUndefined();
});

it('a failure names at most ten members', async () => {
  class Many extends dto({
    one: enumOf(Array.from({ length: 12 }, (_, index) => `m${index}`)),
    few: list(enumOf(Colour)),
  }) {}
  const { errors } = await bind(Many, { method: 'GET', path: '/?one=x&few=red,x' });
  expect(errors).toEqual([
    {
      name: 'one',
      in: 'query',
      detail: 'The value "x" is not one of m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ….',
    },
    { name: 'few[1]', in: 'query', detail: 'The value "x" is not one of Red, Blue.' },
  ]);
});

it.each<[string, readonly unknown[], string]>([
  ['nothing', [], 'undefined'],
  ['an empty list', [[]], 'an empty array'],
  ['an empty object', [{}], 'an object'],
  ['null', [null], 'null'],
  ['text', ['draft'], '"draft"'],
  ['members without their list', ['draft', 'sent'], '"draft", "sent"'],
  ['a list and something else', [['draft'], 'sent'], 'an array of "draft", "sent"'],
  ['a list of numbers', [[1, 2]], 'an array of 1, 2'],
  ['an object of objects', [{ draft: {} }], 'an object with draft'],
])(
  'a wrong argument of enumOf is refused when it is declared, and the message shows an example: %s',
  (_title, given, shown) => {
    const declare = enumOf as (...given: readonly unknown[]) => unknown;
    expect(() => declare(...given)).toThrow(
      new TypeError(
        "enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), " + `not ${shown}`,
      ),
    );
  },
);

it('the reverse names of a numeric enum are not members', async () => {
  enum Mixed {
    Zero,
    Half = 0.5,
    Text = 'text',
  }
  class Choice extends dto({ v: enumOf(Mixed) }) {}
  const read = async (text: string) => bind(Choice, { method: 'GET', path: `/?v=${text}` });
  expect([
    (await read('0')).dto?.v,
    (await read('0.5')).dto?.v,
    (await read('zero')).dto?.v,
    (await read('text')).dto?.v,
  ]).toEqual([Mixed.Zero, Mixed.Half, Mixed.Zero, Mixed.Text]);
  for (const text of ['1', '00', '0.50'])
    expect((await read(text)).errors).toEqual([
      { name: 'v', in: 'query', detail: `The value "${text}" is not one of Zero, Half, Text.` },
    ]);
});
