import fc from 'fast-check';
import { processorTime } from '../../support/processor-time';
import { readPairs } from '../../../lib/body/content/urlencoded';

describe('pairs', () => {
  it.each<[string, ...string[]]>([
    [''],
    ['a=1&b=2&a=3', 'a=1', 'b=2', 'a=3'],
    ['a&b=&c=d=e', 'a=', 'b=', 'c=d=e'],
    ['a=+1%20&%C3%A9=%E2%82%AC', 'a= 1 ', 'é=€'],
    ['a[0][b]=1&a[]=2&a.b=3', 'a[0][b]=1', 'a[]=2', 'a.b=3'],
    ['__proto__=1&constructor=2&hasOwnProperty=3', '__proto__=1', 'constructor=2', 'hasOwnProperty=3'],
    ['a=x]=y&b=x%5D=y&c[0]=d=e', 'a=x]=y', 'b=x]=y', 'c[0]=d=e'],
    ['[a]=1&[]=2&]=3', '[a]=1', '[]=2', ']=3'],
    ['t[4294967294]=x', 't[4294967294]=x'],
  ])('of %p are as they were sent', (text, ...pairs) => {
    expect(readPairs(text, 100).map(([name, value]) => `${name}=${value}`)).toEqual(pairs);
  });

  it('of text that is not encoded are those of the same text encoded', () => {
    const name = fc.stringMatching(/^[^%+[\]&=]*$/u);
    const value = fc.stringMatching(/^[^%+[\]&]*$/u);
    const encoded = (text: string): string =>
      Buffer.from(text).reduce((all, byte) => `${all}%${byte.toString(16).padStart(2, '0')}`, '');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 3 }), pairs => {
        expect(readPairs(pairs.map(([name, value]) => `${name}=${value}`).join('&'), 10)).toEqual(
          readPairs(pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&'), 10),
        );
      }),
    );
  });

  it('over the limit are refused with 413', () => {
    expect(readPairs('a=1&b=2&c=3', 3)).toHaveLength(3);
    expect(() => readPairs('a=1&b=2&c=3', 2)).toThrow(
      expect.objectContaining({ status: 413, message: 'The form has more than 2 fields.' }),
    );
  });

  it.each([
    ['100,000 fields', Array.from({ length: 100_000 }, (_, index) => `a${index}=1`).join('&')],
    ['10,000 levels', `a${'[a]'.repeat(10_000)}=1`],
    ['20,000 that cannot be read', '%&'.repeat(20_000)],
  ])('of %s are read in time that grows with their number', async (_what, text) => {
    expect(
      await processorTime(() => {
        readPairs(text, 100_000);
      }),
    ).toBeLessThan(2_000);
  });

  it.each<[string, string, string]>([
    ['%', '%', ''],
    ['%zz=%41', '%zz', 'A'],
    ['a+b=%FF', 'a b', '\ufffd'],
    ['%ED%A0%80=x', '\ufffd\ufffd\ufffd', 'x'],
  ])('with escapes that are no text are marked: %s', (text, name, value) => {
    expect(readPairs(text, 1)).toEqual([[name, value, 'unreadable']]);
  });
});
