import fc from 'fast-check';
import * as templates from '../../../lib/binding/reading/code-templates';
import type { Template } from '../../../lib/binding/reading/template';

/** The lines of code for some facts, without what is declared: names and numbers. */
function linesFor<F>(template: Template<F>, facts: F): string[] {
  const text = template.text(facts).replace(/"(?:[^"\\]|\\.)*"/g, '0');
  return text.split('\n').map(line => line.replace(/(?:(?:read|write)?\d+(?:, )?)+/g, '0'));
}

const name = fc.oneof(fc.constantFrom('__proto__', '0', 'a'), fc.string());
const fields = fc.array(fc.tuple(fc.oneof(name, fc.nat()), name, fc.boolean()), { minLength: 1, maxLength: 5 });
const facts: Readonly<Record<keyof typeof templates, fc.Arbitrary<never>>> = {
  MAKER: fc.constant(undefined) as fc.Arbitrary<never>,
  SETTER: fc.array(name, { minLength: 1 }) as fc.Arbitrary<never>,
  CLEARER: fc.array(name, { minLength: 1 }) as fc.Arbitrary<never>,
  READER: fields as fc.Arbitrary<never>,
  TEXT_WRITER: fields as fc.Arbitrary<never>,
  PLAIN_WRITER: fields as fc.Arbitrary<never>,
};

it.each(Object.keys(templates) as (keyof typeof templates)[])(
  '%s: its examples, and so its fingerprints, show each line that it can write',
  kind => {
    const template = templates[kind] as unknown as Template<never>;
    const shown = new Set(template.examples.flatMap(example => linesFor(template, example)));
    fc.assert(
      fc.property(facts[kind], given => {
        expect(linesFor(template, given).filter(line => !shown.has(line))).toEqual([]);
      }),
    );
  },
);
