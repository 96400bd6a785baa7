import { exactText, WrittenNumber } from '../../../lib/binding/types/write-value';

const value = { a: new WrittenNumber('9007199254740993'), b: [new WrittenNumber('-0.10')], c: '1' };

it('numbers are written with their digits, and nothing else is changed', () => {
  expect(exactText(value)).toBe('{"a":9007199254740993,"b":[-0.10],"c":"1"}');
  expect(exactText(value, 1)).toBe('{\n "a": 9007199254740993,\n "b": [\n  -0.10\n ],\n "c": "1"\n}');
  expect(exactText(undefined)).toBe(undefined);
});

it('a replacer gets exact numbers as they are, and may return bigints', () => {
  const seen: unknown[] = [];
  const replace = (key: string, one: unknown): unknown => {
    if (key === 'a') seen.push(one);
    return key === 'c' ? 2n ** 64n : one;
  };
  expect(exactText(value, undefined, replace)).toBe('{"a":9007199254740993,"b":[-0.10],"c":18446744073709551616}');
  expect(seen).toEqual([value.a]);
});
