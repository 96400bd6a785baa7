import { BigNumber } from 'bignumber.js';
import fc from 'fast-check';
import { bigNumberOf } from '../../../lib/binding/reading/big-number';

const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });

const texts = fc
  .tuple(
    fc.constantFrom('', '', '', '-'),
    digits(1, 16),
    fc.constantFrom('.', '.', '.', ''),
    digits(1, 16),
    fc.constantFrom('', '', 'e3', 'E-2'),
  )
  .map(parts => parts.join(''));

it('a number is the one that bignumber.js reads, to its last part', () => {
  fc.assert(
    fc.property(texts, text => {
      const [made, read] = [bigNumberOf(text), new BigNumber(text)];
      expect(made).toBeInstanceOf(BigNumber);
      expect(made.toObject()).toEqual(read.toObject());
      expect(BigNumber.isBigNumber(made)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  '1.5',
  '12.00',
  '99999999999999.99999999999999',
  '1.00000000000001',
  '10.10',
  '0.99',
  '-3.50',
  '7',
  '1e5',
  '01.5',
])('%s, too', text => {
  expect(bigNumberOf(text).toObject()).toEqual(new BigNumber(text).toObject());
});
