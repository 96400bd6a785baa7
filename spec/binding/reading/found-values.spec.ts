import { Failures } from '../../../lib/binding/reading/failures';
import { FoundValues } from '../../../lib/binding/reading/found-values';
import { resolveLimits } from '../../../lib/binding/reading/limits';
import { INVALID, UNDEFINED } from '../../../lib/binding/reading/location';

const later = <V>(value: V): Promise<V> => Promise.resolve(value);

describe('FoundValues', () => {
  it.each<[what: string, values: unknown[], result: unknown]>([
    ['a later value replaces an earlier one', ['a', 'b'], 'b'],
    ['undefined replaces nothing', ['a', undefined], 'a'],
    ['a promised value replaces an earlier one', ['a', later('b')], 'b'],
    ['a promise of undefined replaces nothing', ['a', later(undefined)], 'a'],
    ['a value replaces one that is still promised', [later('a'), 'b'], 'b'],
    [
      'a later promise replaces an earlier one, whichever is known first',
      [new Promise(resolve => setTimeout(resolve, 5, 'a')), later('b')],
      'b',
    ],
    ['a later promise of undefined leaves an earlier promise', [later('a'), later(undefined)], 'a'],
    ['a promise of undefined leaves nothing', [later(undefined)], undefined],
    ['an invalid value leaves nothing', [INVALID], undefined],
    ['a promised invalid value leaves an earlier one', ['a', later(INVALID)], 'a'],
    ['a value of which a schema makes undefined replaces nothing', ['a', UNDEFINED], 'a'],
  ])('%s', async (_what, values, result) => {
    const failures = new Failures(resolveLimits());
    const found = new FoundValues<Record<string, unknown>>({}, failures);
    for (const value of values) found.put('name', value);
    await failures.settle();
    expect(found.target).toEqual(result === undefined ? {} : { name: result });
  });

  it('knows what was found: a value, an invalid one, or a promised one', () => {
    const found = new FoundValues([], new Failures(resolveLimits()));
    for (const [key, value] of [false, INVALID, later('a'), undefined].entries()) found.put(key, value);
    expect([0, 1, 2, 3].map(key => found.has(key))).toEqual([true, true, true, false]);
  });

  it('nothing is awaited if nothing is promised', () => {
    expect(new Failures(resolveLimits()).settle()).toBe(undefined);
  });
});
