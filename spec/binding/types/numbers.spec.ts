import { decimal, double, dto, int, long, optional, queryParam } from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Numbers extends dto({
  int: queryParam(optional(int)),
  long: queryParam(optional(long)),
  double: queryParam(optional(double)),
  decimal: queryParam(optional(decimal)),
}) {}
class JsonNumbers extends dto({
  int: optional(int),
  long: optional(long),
  double: optional(double),
  decimal: optional(decimal),
}) {}

type Name = keyof Numbers;

const inQuery = (name: Name, text: string) =>
  bind(Numbers, { method: 'GET', path: `/?${name}=${encodeURIComponent(text)}` });

/** What a client must send, in the words of a failure. */
const described: Readonly<Record<string, string>> = {
  int: 'a whole number from -2147483648 to 2147483647',
  long: 'a whole number of at most 64 bits',
  double: 'a number from -1.79e308 to 1.79e308',
  decimal: 'a decimal number of at most 128 characters, for example 12.50',
};

describe('a number in text', () => {
  it.each<[Name, string, unknown]>([
    ['int', '0', 0],
    ['int', '42', 42],
    ['int', '+7', 7],
    ['int', '-7', -7],
    ['int', '007', 7],
    ['int', ' 12 ', 12],
    ['int', '-0', 0],
    ['int', '2147483647', 2_147_483_647],
    ['int', '-2147483648', -2_147_483_648],
    ['long', '9007199254740993', 9_007_199_254_740_993n],
    ['long', '-9223372036854775808', -9_223_372_036_854_775_808n],
    ['long', '+9223372036854775807', 9_223_372_036_854_775_807n],
    ['double', '1.5', 1.5],
    ['double', '-1e3', -1_000],
    ['double', '.5', 0.5],
    ['double', '5.', 5],
    ['double', '1E-7', 1e-7],
  ])('%s reads %j', async (name, text, value) => {
    const { dto: bound } = await inQuery(name, text);
    expect(bound?.[name]).toBe(value);
  });

  it.each(['0.1', '0.1000000000000000055', '-12345678901234567890.123456789', '1e-20', '+3.50'])(
    'decimal keeps every digit of %s',
    async text => {
      const { dto: bound } = await inQuery('decimal', text);
      expect(bound?.decimal?.toFixed()).toBe({ '1e-20': '0.00000000000000000001', '+3.50': '3.5' }[text] ?? text);
    },
  );

  it.each(['0', '0e-99', '-0.000', '+.0e5', '0e-99999999999', '0E+99999999999'])(
    'decimal reads zero as %s, in text and in JSON',
    async text => {
      const inText = [await inQuery('decimal', text), await bind(JsonNumbers, { json: { decimal: text } })];
      // JSON has no plus sign, and needs a digit before the point (RFC 8259, section 6).
      const inJson = /^[+.]/.test(text) ? [] : [await bind(JsonNumbers, { json: `{"decimal":${text}}` })];
      for (const { dto: bound } of [...inText, ...inJson]) expect(bound?.decimal?.isZero()).toBe(true);
    },
  );

  it.each<[Name, string]>([
    ['int', 'x'],
    ['int', '1.0'],
    ['int', '1e3'],
    ['int', '1,000'],
    ['int', '0x10'],
    ['int', '2147483648'],
    ['int', '-2147483649'],
    ['int', 'NaN'],
    ['int', '1 2'],
    ['int', '١'],
    ['long', '1.5'],
    ['long', '9223372036854775808'],
    ['long', '-9223372036854775809'],
    ['long', '1n'],
    ['long', '9'.repeat(4_000)],
    ['double', 'Infinity'],
    ['double', '1e999'],
    ['double', 'NaN'],
    ['double', '1.2.3'],
    ['double', '0b1'],
    ['double', '.'],
    ['decimal', '1e999999999'],
    ['decimal', '1e-400'],
    ['decimal', '1e-999999999'],
    ['decimal', '-5e-99999999999'],
    ['decimal', '.01E-99999999999'],
    ['decimal', '0x1'],
    ['decimal', 'NaN'],
    ['decimal', '-Infinity'],
    ['decimal', '1/3'],
    ['decimal', '9'.repeat(4_000)],
  ])('%s refuses %.20s', async (name, text) => {
    const { status, errors, dto: bound } = await inQuery(name, text);
    expect({ status, bound, names: errors.map(error => error.name) }).toEqual({
      status: 400,
      bound: undefined,
      names: [name],
    });
    expect(errors[0]?.detail).toMatch(/^The value ".{1,61}" is not /);
    expect(errors[0]?.detail.endsWith(` is not ${described[name]}.`)).toBe(true);
  });
});

describe('a number in a JSON body', () => {
  it.each<[Name, string, unknown]>([
    ['int', '42', 42],
    ['int', '-0', 0],
    ['double', '0.1', 0.1],
    ['double', '1e300', 1e300],
    ['double', '3', 3],
    ['long', '9007199254740993', 9_007_199_254_740_993n],
    ['long', '"9007199254740993"', 9_007_199_254_740_993n],
  ])('%s reads %s', async (name, json, value) => {
    const { dto: bound } = await bind(JsonNumbers, { json: `{"${name}":${json}}` });
    expect(bound?.[name]).toBe(value);
  });

  it.each<[Name, string]>([
    ['int', '"42"'],
    ['int', '1.5'],
    ['int', 'true'],
    ['int', '[]'],
    ['int', '{}'],
    ['int', '2147483648'],
    ['long', '1.5'],
    ['long', '9223372036854775808'],
    ['long', 'false'],
    ['double', '"1.5"'],
    ['double', '1e999'],
    ['decimal', '1e999999999'],
    ['decimal', '1e-400'],
    ['decimal', '1e-999999999'],
    ['decimal', '-5e-99999999999'],
    ['decimal', '"-5e-99999999999"'],
    ['decimal', '"x"'],
  ])('%s refuses %s', async (name, json) => {
    const { status, errors } = await bind(JsonNumbers, { json: `{"${name}":${json}}` });
    expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name, in: 'json', pointer: `/${name}` }] });
  });
});
