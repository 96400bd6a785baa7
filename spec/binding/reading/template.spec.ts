import { Template } from '../../../lib/binding/reading/template';

const adder = (sign: string): Template<readonly string[]> =>
  new Template<readonly string[]>({
    examples: [['a']],
    parameters: names => names,
    body: names => `return (function (value) { return value ${sign} ${names.join(` ${sign} `)}; });`,
  });

it('writes a function of the constants, which returns the function that is wanted', () => {
  const make = (0, eval)(adder('+').text(['one', 'two'])) as (one: number, two: number) => (value: number) => number;
  expect(make(1, 2)(3)).toBe(6);
});

it('has the same fingerprint for the same class, the same facts and the same template', () => {
  expect(adder('+').fingerprint('Order', ['one'])).toBe(adder('+').fingerprint('Order', ['one']));
});

it.each([
  ['another class', adder('+').fingerprint('Line', ['one'])],
  ['other facts', adder('+').fingerprint('Order', ['two'])],
  ['other facts whose names together are the same', adder('+').fingerprint('Order', ['o', 'ne'])],
  ['a template that writes other code', adder('-').fingerprint('Order', ['one'])],
])('has another fingerprint for %s', (_, fingerprint) => {
  expect(fingerprint).not.toBe(adder('+').fingerprint('Order', ['one']));
});
