import { FoundValues } from '../../../lib/binding/reading/found-values';
import { INVALID } from '../../../lib/binding/reading/location';

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
  ])('%s', async (_what, values, result) => {
    const found = new FoundValues<Record<string, unknown>>({});
    for (const value of values) found.put('name', value);
    expect(await found.settled()).toEqual(result === undefined ? {} : { name: result });
  });

  it.each<[what: string, values: unknown[]]>([
    ['an invalid value', [INVALID]],
    ['an invalid value that was replaced', [INVALID, 'a']],
    ['a promised invalid value', [later(INVALID)]],
    ['a promised invalid value beside a valid one', ['a', later(INVALID)]],
  ])('%s makes the whole invalid', async (_what, values) => {
    const found = new FoundValues([]);
    for (const value of values) found.put(0, value);
    expect(await found.settled()).toBe(INVALID);
  });

  it('knows what was found: a value, an invalid one, or a promised one', () => {
    const found = new FoundValues([]);
    for (const [key, value] of [false, INVALID, later('a'), undefined].entries()) found.put(key, value);
    expect([0, 1, 2, 3].map(key => found.has(key))).toEqual([true, true, true, false]);
  });

  it.each<[what: string, value: unknown, finished: object[]]>([
    ['a value', 'a', [{ name: 'a' }]],
    ['a promised value, once it is set', later('a'), [{ name: 'a' }]],
    ['not an invalid value', INVALID, []],
    ['not a promised invalid value', later(INVALID), []],
  ])('finishes the target: %s', async (_what, value, finished) => {
    const found = new FoundValues<Record<string, unknown>>({});
    found.put('name', value);
    const targets: object[] = [];
    await found.settled(target => targets.push({ ...target }));
    expect(targets).toEqual(finished);
  });

  it('settles at once if nothing is promised', () => {
    const found = new FoundValues({});
    expect(found.settled()).toBe(found.target);
  });
});
