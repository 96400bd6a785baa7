import fc from 'fast-check';
import { LosslessNumber, parse as parseLossless } from 'lossless-json';
import { z } from 'zod';
import { decimal, dto, int, optional } from '../../../lib';
import { ExactNumber, InvalidJson, isExactNumber, parseExactly } from '../../../lib/body/content/exact-json';
import { bind } from '../../support/one-endpoint';

/** Returns the value with all numbers as their texts. */
function inDigits(value: unknown): unknown {
  if (typeof value === 'number') return `n${Object.is(value, -0) ? '-0' : value}`;
  if (isExactNumber(value) || value instanceof LosslessNumber) return `n${value.value}`;
  if (Array.isArray(value)) return value.map(inDigits);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inDigits(one)]));
}

const outcome = (parse: () => unknown): { value: unknown } | 'refused' => {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused';
    throw error;
  }
};

/** JSON with blanks, escapes, numbers of all forms and equal names; and texts that are nearly JSON. */
const fragments = fc.constantFrom(
  ...'{ } [ ] , : " "a" "a": "b": "__proto__": "\\u00e4\\n" "\\x" "\\u12g4" \\ \\" 0 -0 1 - . 1.50 00 1e5 1E+400 -1.5e-7'.split(
    ' ',
  ),
  ...['12345678901234567890', 'true', 'false', 'null', 'nul', 'NaN', '/**/', 'ä', '\ud800'],
  ...[' ', '\t', '\r\n', '\u00a0', '\ufeff', '\u0000', '\u001f', '\u2028'],
);
const nearlyJson = fc.array(fragments, { maxLength: 12 }).map(all => all.join(''));
const spaced = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\r\n'))
  .map(([value, space]) => JSON.stringify(value, null, space));
const broken = fc.tuple(spaced, fc.nat(), fragments, fc.nat(3)).map(([text, where, fragment, cut]) => {
  const at = where % (text.length + 1);
  return text.slice(0, at) + fragment + text.slice(at + cut);
});
const texts = fc.oneof(spaced, nearlyJson, broken);

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('parseExactly', () => {
  it('accepts what JSON.parse accepts, unless a name has two values, with the digits that lossless-json reads', () => {
    fc.assert(
      fc.property(texts, text => {
        const exact = outcome(() => inDigits(parseExactly(text)));
        // lossless-json accepts control characters and a lone surrogate where JSON.parse does not.
        if (outcome(() => JSON.parse(text) as unknown) === 'refused') expect(exact).toBe('refused');
        else expect(exact).toEqual(outcome(() => inDigits(parseLossless(text))));
      }),
      { numRuns: 8_000 },
    );
  });

  it.each<[string, unknown]>([
    ['[0,-0,123456789012345,-12345678901234]', [0, -0, 123_456_789_012_345, -12_345_678_901_234]],
    ...['1234567890123456', '-123456789012345', '1.0', '1e2'].map((digits): [string, unknown] => [
      digits,
      new ExactNumber(digits),
    ]),
    ['{"__proto__":1}', Object.fromEntries([['__proto__', 1]])],
    ['{"a":[1.0],"a":[1.0]}', { a: [new ExactNumber('1.0')] }],
    ['"\\u00e4\\ud83d\\ude00\\/"', 'ä😀/'],
  ])('reads %s', (text, value) => {
    expect(parseExactly(text)).toStrictEqual(value);
  });

  it.each<[string, number]>([
    ['', 0],
    ['  ', 2],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{"a":1 "b"}', 7],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[01]', 2],
    ['1.', 1],
    ['1e+', 1],
    ['"a', 2],
    ['"a\\q"', 2],
    ['"a\nb"', 2],
    ['nul', 0],
    ['{} {}', 3],
  ])('names the position of the error in %j', (text, position) => {
    expect(() => parseExactly(text)).toThrow(new InvalidJson(position));
  });

  it('names the position of the second value of a name', () => {
    expect(() => parseExactly('{"a":1, "a": 2}')).toThrow(expect.objectContaining({ position: 13, isDuplicate: true }));
  });

  it.each<[string, (levels: number) => string]>([
    ['arrays', nested],
    ['objects', levels => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)],
    ['two equal values of a name', levels => `{"a":${nested(levels - 1)},"a":${nested(levels - 1)}}`],
  ])(
    'reads 1,000 levels of %s, and refuses more as a RangeError, whatever the process has done before',
    (_what, text) => {
      for (let round = 0; round < 50; round++) {
        expect(() => parseExactly(text(1_000))).not.toThrow();
        for (const levels of [1_002, 100_000]) expect(() => parseExactly(text(levels))).toThrow(RangeError);
      }
      expect(() => parseExactly(`[${'[],{},'.repeat(2_000)}1]`)).not.toThrow();
    },
  );
});

it('an object of a client that looks like a number of a parser is an object', async () => {
  const sent = { isLosslessNumber: true, value: '7' };
  expect(isExactNumber({ ...sent, [Symbol.for('lossless-json.LosslessNumber')]: true })).toBe(false);
  // A decimal beside it, so that numbers keep their digits.
  class Pay extends dto({ v: z.any(), n: optional(int), exact: decimal }) {}
  expect((await bind(Pay, { json: { v: sent, exact: 1 } })).dto?.v).toEqual(sent);
  expect((await bind(Pay, { json: { v: 1, n: sent, exact: 1 } })).errors).toMatchObject([{ name: 'n', in: 'json' }]);
});
