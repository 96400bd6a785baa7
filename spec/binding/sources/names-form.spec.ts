import { z } from 'zod';
import {
  bool,
  dateTime,
  decimal,
  dto,
  field,
  file,
  formField,
  fromForm,
  int,
  list,
  nullable,
  optional,
  string,
} from '../../../lib';
import { multipart } from '../../support/multipart';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Signup extends dto({
  email: formField(string, { bindFrom: 'e-mail' }),
  age: int,
  news: field(bool, { default: false }),
  note: optional(string),
}) {}

it('missing fields of a form are reported in the form, under the name that is looked for', async () => {
  expect((await bind(Signup, { form: '' + 'news=false' }, urlEncoded)).errors).toEqual([
    { name: 'e-mail', in: 'form', detail: 'A value is required.' },
    { name: 'age', in: 'form', detail: 'A value is required.' },
  ]);
});

it.each<[string, Sent]>([
  [
    'urlencoded',
    {
      form: [
        ['e-mail', 'é%+& =\n'],
        ['age', '1'],
      ],
    },
  ],
  [
    'multipart',
    {
      multipart: [
        ['e-mail', 'é%+& =\n'],
        ['age', '1'],
      ],
    },
  ],
])('text arrives as it was typed: %s', async (_kind, sent) => {
  expect((await bind(Signup, sent, urlEncoded)).dto?.email.replace('\r\n', '\n')).toBe('é%+& =\n');
});

it('a form and JSON bind the same dto', async () => {
  class Both extends dto({ age: int, note: optional(string) }) {}
  expect((await bind(Both, { json: { age: 1 } }, urlEncoded)).dto).toEqual({ age: 1 });
  expect((await bind(Both, { form: [['age', '1']] }, urlEncoded)).dto).toEqual({ age: 1 });
});

describe('a part of a form with the type application/json', () => {
  class Point extends dto({ x: int }) {}
  class Parts extends dto({
    text: optional(nullable(string)),
    whole: optional(int),
    strict: optional(string, { null: 'refuse' }),
    price: optional(decimal),
    at: optional(dateTime),
    point: optional(nullable(Point)),
    points: optional(list(Point)),
    tags: optional(list(nullable(string))),
    schema: optional(z.string().nullable()),
    file: optional(file),
  }) {}
  class Whole extends dto({ form: fromForm(Parts) }) {}
  const send = async (
    Dto: typeof Parts | typeof Whole,
    parts: readonly (readonly [string, string])[],
    filename?: string,
  ) => {
    const json = parts.map(([name, value]) => ({
      name,
      value,
      type: 'application/json',
      ...(filename && { filename }),
    }));
    const { body, headers } = multipart(json, 'b1');
    const { dto: bound, errors } = await bind<typeof Parts | typeof Whole>(
      Dto,
      { body, headers },
      { allowFormData: true },
    );
    const value = bound instanceof Whole ? bound.form : bound;
    return value
      ? (JSON.parse(JSON.stringify(value)) as unknown)
      : errors.map(({ name, detail }) => `${name}: ${detail}`);
  };

  it.each<[string, readonly (readonly [string, string])[], unknown]>([
    ['a text', [['text', '"Oslo"']], { text: 'Oslo' }],
    ['a text that is null', [['text', 'null']], { text: null }],
    ['null for what may be missing', [['whole', 'null']], {}],
    ['a number', [['whole', ' 7 ']], { whole: 7 }],
    [
      'a number in quotation marks',
      [['whole', '"7"']],
      ['whole: The value "7" is not a whole number from -2147483648 to 2147483647.'],
    ],
    ['null where that is refused', [['strict', 'null']], ['strict: The value null is not a string.']],
    ['all digits', [['price', '0.10000000000000000001']], { price: '0.10000000000000000001' }],
    ['a date', [['at', '"2026-11-21"']], { at: '2026-11-21T00:00:00.000Z' }],
    ['an object', [['point', '{"x":1}']], { point: { x: 1 } }],
    ['an object that is null', [['point', 'null']], { point: null }],
    [
      'names below win',
      [
        ['point', '{"x":1}'],
        ['point.x', '2'],
      ],
      { point: { x: 2 } },
    ],
    ['a list', [['points', '[{"x":1}]']], { points: [{ x: 1 }] }],
    [
      'items',
      [
        ['points', '{"x":1}'],
        ['points', '{"x":2}'],
      ],
      { points: [{ x: 1 }, { x: 2 }] },
    ],
    ['one item', [['points', '{"x":1}']], { points: [{ x: 1 }] }],
    ['a text with commas in a list', [['tags', '"a,b"']], { tags: ['a,b'] }],
    [
      'texts and null in a list',
      [
        ['tags[1]', 'null'],
        ['tags[0]', '"a"'],
      ],
      { tags: ['a', null] },
    ],
    ['a schema', [['schema', '"Oslo"']], { schema: 'Oslo' }],
    ['null for a schema', [['schema', 'null']], { schema: null }],
    ['text that is no JSON', [['text', 'Oslo']], ['text: The value "Oslo" is not a JSON text.']],
    ['nothing', [['text', '']], { text: '' }],
    ['no file', [['file', '"x"']], ['file: A file is expected.']],
  ])('is JSON: %s', async (_what, parts, expected) => {
    expect(await send(Parts, parts)).toEqual(expected);
    expect(await send(Whole, parts)).toEqual(expected);
  });

  it('may have a file name, as a Blob has', async () => {
    expect(
      await send(
        Parts,
        [
          ['text', '"Oslo"'],
          ['point', 'null'],
        ],
        'blob',
      ),
    ).toEqual({ text: 'Oslo', point: null });
  });
});
