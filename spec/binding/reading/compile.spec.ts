import { dto, int } from '../../../lib';
import { compileClass } from '../../../lib/binding/compile-class';
import {
  compilerWith,
  CodeCollection,
  collecting,
  type CodeFunction,
  type Compile,
} from '../../../lib/binding/reading/compile';
import { Template } from '../../../lib/binding/reading/template';

/** The code of a function that adds a constant to its argument, or takes it from that; its fact is the sign. */
const sum = new Template<string>({
  examples: ['+'],
  parameters: () => ['offset'],
  body: sign => `return (function (value) { return value ${sign} offset; });`,
});
const compiledBy = (compile: Compile, owner: string, sign: string): unknown => compile(owner, sum, sign, () => [1])();
const collected = (owner: string, sign: string): CodeCollection => {
  const collection = new CodeCollection();
  collecting.collection = collection;
  try {
    compiledBy(compilerWith([]), owner, sign);
  } finally {
    delete collecting.collection;
  }
  return collection;
};
const functionsOf = (collection: CodeCollection, make: CodeFunction): Record<string, CodeFunction> =>
  Object.fromEntries([...collection.texts.keys()].map(fingerprint => [fingerprint, make]));

it('takes a function that was generated for the same code of the same class, and no other', () => {
  const functions = functionsOf(
    collected('Order', '+'),
    (offset: number) => value => `generated ${Number(value) + offset}`,
  );
  const compile = compilerWith([
    { functions: {}, whenStale: 'warn' },
    { functions, whenStale: 'warn' },
  ]);
  const result = (owner: string, sign: string): unknown =>
    (compiledBy(compile, owner, sign) as (value: number) => unknown)(2);
  expect(result('Order', '+')).toBe('generated 3');
  expect(result('Line', '+')).toBe(3);
  expect(result('Order', '-')).toBe(1);
});

it('throws if so configured and there is none, but not while code is collected', () => {
  const compile = compilerWith([{ functions: {}, whenStale: 'throw' }]);
  expect(() => compiledBy(compile, 'Order', '+')).toThrow(
    new TypeError(
      'the generated contexts have no code for Order as it is declared now. Run `npx bindonce generate` again, with a module that uses it, or keep class names in your bundler.',
    ),
  );
  collecting.collection = new CodeCollection();
  try {
    expect(() => compiledBy(compile, 'Order', '+')).not.toThrow();
    expect(collecting.collection.texts.size).toBe(1);
  } finally {
    delete collecting.collection;
  }
});

it('does not take a property that every object inherits for a function', () => {
  const functions = Object.create({ ...functionsOf(collected('Order', '+'), () => () => 'inherited') }) as object;
  const compile = compilerWith([{ functions: functions as Record<string, CodeFunction>, whenStale: 'warn' }]);
  expect((compiledBy(compile, 'Order', '+') as (value: number) => unknown)(2)).toBe(3);
});

it('collects code under a text, also of a class whose static property `name` is a method', () => {
  class Line extends dto({ sku: int }) {}
  Object.defineProperty(Line, 'name', { value: () => 'Line' });
  const collection = new CodeCollection();
  collecting.collection = collection;
  try {
    compileClass(Line, {});
  } finally {
    delete collecting.collection;
  }
  expect(new Set([...collection.texts.values()].map(({ owner }) => owner))).toEqual(new Set(['dto']));
});
