import { z } from 'zod';
import {
  bindRequest,
  bool,
  configure,
  dto,
  enumOf,
  fromClaim,
  int,
  list,
  queryParam,
  string,
  valueParserFor,
  type AnyType,
  type ParseResult,
  type ValueParser,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

/** Nothing is declared about it: it is read by parsers alone. */
class Money {
  constructor(readonly cents: number) {}
}
/** Reads itself from text. */
class Code {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Code> {
    return text === undefined ? { success: false } : { success: true, value: new Code(text) };
  }
}
class Point extends dto({ x: int, y: int }) {}

const success = <T>(value: T): ParseResult<T> => ({ success: true, value });
const failure: ParseResult<never> = { success: false };

const money = valueParserFor(Money, text =>
  /^\d+\.\d\d$/.test(text ?? '') ? success(new Money(Math.round(Number(text) * 100))) : failure,
);

describe("a parser takes precedence over the type's own reading", () => {
  const word = enumOf(['a', 'b']);
  const semicolons = list(int);
  const email = z.email();

  it.each<[string, AnyType, ValueParser, string, unknown]>([
    ['tryParse', Code, valueParserFor(Code, text => success(new Code(`<${text}>`))), 'x', new Code('<x>')],
    ['int', int, valueParserFor(int, text => success(parseInt(text ?? '', 16))), 'ff', 255],
    ['bool', bool, valueParserFor(bool, text => success(text === 'on')), 'on', true],
    ['string', string, valueParserFor(string, text => success(`${text}!`)), '', '!'],
    ['an enum', word, valueParserFor(word, text => (text === 'first' ? success('a') : failure)), 'first', 'a'],
    [
      'a list',
      semicolons,
      valueParserFor(semicolons, text => success((text ?? '').split(';').map(Number))),
      '1;2',
      [1, 2],
    ],
    [
      'a dto',
      Point,
      valueParserFor(Point, text => success(Object.assign(new Point(), { x: Number(text), y: 0 }))),
      '7',
      { x: 7, y: 0 },
    ],
    ['a schema', email, valueParserFor(email, text => success(`${text}@example.org`)), 'me', 'me@example.org'],
  ])('%s', async (_what, type, parser, text, value) => {
    class One extends dto({ v: type }) {}
    expect((await bind(One, { path: `/?v=${text}` }, { valueParsers: [parser] })).dto).toEqual({ v: value });
    expect((await bind(One, { path: `/?v=${text}` })).dto).not.toEqual({ v: value });
  });

  it('and is asked about text only, never about JSON', async () => {
    class One extends dto({ code: Code, n: int, lines: list(Code), point: Point }) {}
    const parsers = [
      valueParserFor(Code, () => failure),
      valueParserFor(int, () => failure),
      valueParserFor(Point, () => failure),
    ];
    const values = { code: 'x', n: 7, lines: ['a', 'b'], point: { x: 1, y: 2 } };
    const bound = { code: new Code('x'), n: 7, lines: [new Code('a'), new Code('b')], point: { x: 1, y: 2 } };
    expect((await bind(One, { json: values }, { valueParsers: parsers })).dto).toEqual(bound);
    expect(
      (
        await bind(
          class extends dto({ all: queryParam(One), some: queryParam(list(Code)) }) {},
          { path: `/?all=${encodeURIComponent(JSON.stringify(values))}&some=["a"]` },
          { valueParsers: parsers },
        )
      ).dto,
    ).toEqual({ all: bound, some: [new Code('a')] });
    expect(
      (await bind(class extends dto({ all: fromClaim(One) }) {}, {}, { valueParsers: parsers, user: { all: values } }))
        .dto,
    ).toEqual({ all: bound });
  });
});

it('an invalid parser is refused when the middleware is made', () => {
  expect(() => valueParserFor(Money, undefined as unknown as () => typeof failure)).toThrow(
    new TypeError(
      'valueParserFor takes a type and a function (input) => ({ success, value }); the function is undefined',
    ),
  );
  expect(() => valueParserFor(null as unknown as typeof Money, () => failure)).toThrow(/; the type is null$/);
  expect(() => bindRequest(Point, { valueParsers: [Money as unknown as ValueParser] })).toThrow(
    'valueParsers must be an array of results of valueParserFor()',
  );
  expect(() => configure({ binding: { valueParsers: money as unknown as ValueParser[] } })).toThrow(
    'valueParsers must be an array of results of valueParserFor()',
  );
});
