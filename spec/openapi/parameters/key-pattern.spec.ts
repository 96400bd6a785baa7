import fc from 'fast-check';
import { jsonSchemaPattern } from '../../../lib/openapi/parameters/key-pattern';

/** Tells whether `idempotency()` takes a key. */
function takes(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}

/** Patterns that JSON Schema can say, and keys that tell them from similar ones. */
const SAID: readonly [pattern: RegExp, said: string, keys: readonly string[]][] = [
  [/^[a-z]+$/, '^[a-z]+$', ['abc', 'ABC', '']],
  [/^\p{L}+$/u, '^\\p{L}+$', ['aé', '1']],
  [/^[a-z]+$/gm, '^[a-z]+$', ['abc', 'a1']],
  [/^a.b$/ds, '^a.b$', ['axb', 'ab']],
  [/key/y, '^(?:key)', ['key-1', 'a-key']],
  [/a|b/y, '^(?:a|b)', ['b', 'cb']],
  [/^[0-9a-f-]{36}$/i, '^[0-9a-fA-F-]{36}$', ['3F2504E0-4f89-11d3-9a0c-0305e82c3301', '3g2504e0']],
  [/^order-(?:a|b)\d+$/i, '^[oO][rR][dD][eE][rR]-(?:[aA]|[bB])\\d+$', ['ORDER-A1', 'order-c1', 'Order-b']],
  [/^[^x\d]_$/i, '^[^xX\\d]_$', ['X_', 'a_', '1_']],
  [/^a(?=b)/i, '^[aA](?=[bB])', ['AB', 'ac']],
];

/** Patterns that mean something else in JSON Schema, or that are not translated, with a reason. */
const NOT_SAID: readonly [reason: string, pattern: RegExp][] = [
  ['`v` has sets of characters', new RegExp('^[\\w--\\d]+$', 'v')],
  ['without `u`, this is 61 times u', new RegExp('^\\u{61}$')],
  ['without `u`, this is the text p{L}', new RegExp('^\\p{L}$')],
  ['invalid with `u`', new RegExp('^\\-$')],
  ['a backreference compares in any case', /^(a)\1$/i],
  ['a letter may be written as a number', /^\x61$/i],
  ['a range holds more than letters', /^[A-z]$/i],
  ['letters beyond ASCII have other cases', /^é$/i],
  ["a group's name is not to be matched", /^(?<name>a)$/i],
];

describe('the pattern of a key', () => {
  it.each(SAID)('%p is said in JSON Schema', (pattern, said, keys) => {
    expect(jsonSchemaPattern(pattern)).toBe(said);
    for (const key of keys) expect([key, new RegExp(said, 'u').test(key)]).toEqual([key, takes(pattern, key)]);
  });

  it.each(NOT_SAID)('is left out: %s', (_reason, pattern) => {
    expect(jsonSchemaPattern(pattern)).toBeUndefined();
  });

  it('takes the same keys, whatever the pattern and its flags', () => {
    const atoms = fc.constantFrom(
      ...[
        'a',
        'B',
        '5',
        '-',
        '.',
        'é',
        '\\d',
        '\\w',
        '\\W',
        '\\b',
        '\\.',
        '\\x41',
        '\\u0041',
        '[a-c]',
        '[^A-C5]',
        '[a\\d-]',
      ],
      ...['[é-ö]', '[A-z]', '(?:a|b)', '(?=a)', '(a)', '\\1', 'a?', '[b]*', 'c{2}', '^', '$', '|'],
    );
    const sources = fc.array(atoms, { minLength: 1, maxLength: 5 }).map(parts => parts.join(''));
    const flags = fc.subarray(['g', 'i', 'm', 's', 'u', 'y', 'd']).map(some => some.join(''));
    const keys = fc.array(fc.string({ unit: fc.constantFrom(...'aAbBcC5-.éÉÿµß_ '), maxLength: 4 }), { minLength: 8 });
    fc.assert(
      fc.property(sources, flags, keys, (source, flag, sent) => {
        let pattern: RegExp;
        try {
          pattern = new RegExp(source, flag);
        } catch {
          return;
        }
        const said = jsonSchemaPattern(pattern);
        if (said === undefined) return;
        const schema = new RegExp(said, 'u');
        for (const key of sent) expect([key, schema.test(key)]).toEqual([key, takes(pattern, key)]);
      }),
      { numRuns: 1_000 },
    );
  });
});
