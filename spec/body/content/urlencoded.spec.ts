import fc from 'fast-check';
import { processorTime } from '../../support/processor-time';
import { readPairs } from '../../../lib/body/content/urlencoded';

describe('pairs', () => {
  it.each<[string, [string, string][]]>([
    ['', []],
    ['a=1', [['a', '1']]],
    [
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      'a=1&a=2',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a=+1%20', [['a', ' 1 ']]],
    ['%C3%A9=%E2%82%AC', [['é', '€']]],
    ['a[0][b]=1', [['a[0][b]', '1']]],
    [
      'a[]=1&a[]=2',
      [
        ['a[]', '1'],
        ['a[]', '2'],
      ],
    ],
    ['a.b=1', [['a.b', '1']]],
    [
      'constructor=1&hasOwnProperty=2',
      [
        ['constructor', '1'],
        ['hasOwnProperty', '2'],
      ],
    ],
    [
      '__proto__=1&a=2',
      [
        ['__proto__', '1'],
        ['a', '2'],
      ],
    ],
    [
      'a=x]=y&b=x%5D=y&c[0]=d=e',
      [
        ['a', 'x]=y'],
        ['b', 'x]=y'],
        ['c[0]', 'd=e'],
      ],
    ],
    [
      '[a]=1&[]=2&]=3',
      [
        ['[a]', '1'],
        ['[]', '2'],
        [']', '3'],
      ],
    ],
    ['t[4294967294]=x', [['t[4294967294]', 'x']]],
  ])('of %p are %j', (text, pairs) => {
    expect(readPairs(text, 100)).toEqual(pairs);
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

  it('may be as many as the limit', () => {
    expect(readPairs(Array.from({ length: 1_000 }, (_, index) => `a=${index}`).join('&'), 1_000)).toHaveLength(1_000);
  });

  it('over the limit are refused with 413', () => {
    expect(() => readPairs('a=1&b=2&c=3', 2)).toThrow(
      expect.objectContaining({ status: 413, message: 'The form has more than 2 fields.' }),
    );
  });

  it('of 100,000 fields and of 10,000 levels are read in time that grows with their number', async () => {
    const fields = Array.from({ length: 100_000 }, (_, index) => `a${index}=1`).join('&');
    const time = await processorTime(() => {
      expect(readPairs(fields, 100_000)).toHaveLength(100_000);
      expect(readPairs(`a${'[a]'.repeat(10_000)}=1`, 10)).toHaveLength(1);
    });
    expect(time).toBeLessThan(5_000);
  });

  it('cannot be read where decodeURIComponent() fails, and only there', () => {
    const isText = (escapes: string): boolean => {
      try {
        decodeURIComponent(escapes);
        return true;
      } catch {
        return false;
      }
    };
    const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    for (let first = 0; first < 256; first++)
      for (const second of edges)
        for (const [third, fourth] of [[], [0x80], [0xc0], [0x80, 0xbf], [0xbf, 0xc0]]) {
          const bytes = [first, second, third, fourth].filter(byte => byte !== undefined);
          const escapes = bytes.map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
          expect([escapes, readPairs(escapes, 1)[0]?.[2]]).toEqual([
            escapes,
            isText(escapes) ? undefined : 'unreadable',
          ]);
        }
  });

  it.each(['%', '%FF', '%ED%A0%80'])('that cannot be read raise no exceptions, which take long: %s', bad => {
    const decode = jest.spyOn(globalThis, 'decodeURIComponent');
    try {
      expect(readPairs(`${bad}&%C3%A9`, 2).map(([, , isUnreadable]) => isUnreadable)).toEqual([
        'unreadable',
        undefined,
      ]);
      expect(decode.mock.results.map(({ type }) => type)).not.toContain('throw');
      expect(decode).toHaveBeenCalled();
    } finally {
      decode.mockRestore();
    }
  });
});
