import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as canonical from '../../../lib/idempotency/identity/canonical';

/** The text, or undefined where there is none. */
const orUndefined =
  <T>(textOf: (value: T) => string) =>
  (value: T): string | undefined => {
    try {
      return textOf(value);
    } catch {
      return undefined;
    }
  };
const canonicalJson = orUndefined(canonical.canonicalJson);
const canonicalValue = orUndefined(canonical.canonicalValue);

const list = (values: number): string => `[${Array<string>(values).fill('0').join()}]`;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

it.each<[string, string, string]>([
  ['the order of members', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
  ['escapes in a text', '"a/é\\n"', '"\\u0061\\/\\u00E9\\u000a"'],
  ['zeros at the end', '4.50', '4.5'],
  ['an exponent', '1200', '1.2E+3'],
  ['the sign of zero', '[0,0,0]', '[-0,-0.00,-0e7]'],
  ['the zeros of an exponent', '1e5', '1e000000005'],
  [
    'how 40 digits are written',
    '1234567890123456789012345678901234567890',
    '123456789012345678901234567890.123456789e10',
  ],
])('JSON that differs only in %s has one text', (_what, one, other) => {
  expect(canonicalJson(one)).toBeDefined();
  expect(canonicalJson(other)).toBe(canonicalJson(one));
});

it.each<[string, string, string]>([
  ['the case of a name', '{"a":1}', '{"A":1}'],
  ['a member called __proto__', '{"__proto__":1}', '{"__proto__":2}'],
  ['whether there is a member', '{"a":null}', '{}'],
  ['where a list ends', '[[1],2]', '[[1,2]]'],
  ['number or text', '1', '"1"'],
  ['the 20th digit', '12345678901234567890', '12345678901234567891'],
  ['the 20th digit of a fraction', '0.12345678901234567890', '0.12345678901234567891'],
  ['a power beyond all doubles', '1e999', '1e998'],
  ['half of a surrogate pair', '"\\ud83d"', '"\\ud83e"'],
  ['half of a surrogate pair or its escape', '"\\ud83d"', '"\\\\ud83d"'],
  ['a composed or a decomposed letter', '"\u00e9"', '"e\u0301"'],
])('JSON that differs in %s has two texts', (_what, one, other) => {
  expect([typeof canonicalJson(one), typeof canonicalJson(other)]).toEqual(['string', 'string']);
  expect(canonicalJson(other)).not.toBe(canonicalJson(one));
});

it.each<[string, string]>([
  ['with an error', '{"a":}'],
  ['with two values of one name', '{"a":1,"a":2}'],
  ['with one name and value twice', '{"a":1,"a":1}'],
  ['with one name twice in two spellings', '[{"a":":","\\u0061":":"}]'],
  ['of more than 50,000 values', list(50_000)],
  ['of more than 100 levels', nested(101)],
  ['with an exponent of ten digits', '[1e1000000000]'],
  ['of more levels than are read at all', nested(100_000)],
])('JSON %s has no text: its bytes count', (_what, text) => {
  expect(canonicalJson(text)).toBeUndefined();
});

/** Writes JSON in one of many ways, which the numbers choose. */
function written(value: unknown, choices: Iterator<number>): string {
  const choice = (of: number): number => (choices.next().value as number) % of;
  const blank = (): string => ['', ' ', '\n\t'][choice(3)] ?? '';
  const letter = (one: string): string => {
    const isPlain = one >= ' ' && one < '\ud800' && one !== '"' && one !== '\\';
    return isPlain && choice(2) === 0 ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  };
  const text = (one: string): string => `"${one.split('').map(letter).join('')}"`;
  const number = (one: number): string => {
    const [digits = '', exponent = '0'] = one.toExponential().split('e');
    const [whole = '', fraction = ''] = digits.split('.');
    const spellings = [
      JSON.stringify(one),
      `${whole}.${fraction}00e${exponent}`,
      `${whole}${fraction}E${Number(exponent) - fraction.length}`.replace(/^(-?)0+(?=\d)/, '$1'),
    ];
    return spellings[choice(spellings.length)] ?? '';
  };
  const all = (): string => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return number(value);
    if (Array.isArray(value)) return `[${value.map(one => written(one, choices)).join()}]`;
    if (typeof value !== 'object' || value === null) return String(value);
    const members = Object.entries(value);
    if (choice(2) === 1) members.reverse();
    return `{${members.map(([name, one]) => `${blank()}${text(name)}${blank()}:${written(one, choices)}`).join()}}`;
  };
  return blank() + all() + blank();
}

const choices = fc.infiniteStream(fc.nat());

it('a random value has one text, in whatever two ways it is written, and as a parser leaves it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), choices, choices, (value, one, other) => {
      const text = canonicalJson(written(value, one));
      expect(text).toBeDefined();
      expect(canonicalJson(written(value, other))).toBe(text);
      expect(canonicalValue(value)).toBe(text);
    }),
    { numRuns: 500 },
  );
});

it('two random values have one text only if they are equal', () => {
  const small = fc.jsonValue({ maxDepth: 2 });
  fc.assert(
    fc.property(small, small, choices, (value, other, how) => {
      // JSON knows no sign of zero.
      const [one, another] = [value, other].map(all => JSON.parse(JSON.stringify(all)) as unknown);
      const isEqual = isDeepStrictEqual(one, another);
      expect(canonicalJson(written(value, how)) === canonicalJson(written(other, how))).toBe(isEqual);
      // One more member, and one item changed.
      expect(canonicalJson(written([value, other, 1], how))).not.toBe(canonicalJson(written([value, other, 2], how)));
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['a=1&b=2', 'b=2&a=1'],
  ['a=1&b=2&a=3', 'a=1&a=3&b=2'],
  ['a[0]=1&b=2&a[1]=3', 'b=2&a[0]=1&a[1]=3'],
  ['a%5B0%5D=1&b=2', 'b=2&a%5B0%5D=1'],
  ['a.x=1&b=2&a.y=3', 'b=2&a.x=1&a.y=3'],
  ['', '&&'],
])('the queries %p and %p are one', (one, other) => {
  expect(canonical.pairsInOrder(one)).toEqual(canonical.pairsInOrder(other));
});

it.each(
  (
    'a=1 A=1|a=1&A=2 A=2&a=1|a=1&a=2 a=2&a=1|a=1&a[]=2 a[]=2&a=1|a[x]=1&a[y]=2 a[y]=2&a[x]=1|a=1&%61=2 %61=2&a=1|' +
    '[a]=1&a=2 a=2&[a]=1|?a=1&a=2 a=2&?a=1|a=+ a=%20|a=%FF a=%FE|=1 1='
  )
    .split('|')
    .map(pair => pair.split(' ')),
)('the queries %p and %p are two', (one = '', other = '') => {
  expect(canonical.pairsInOrder(one)).not.toEqual(canonical.pairsInOrder(other));
});
