import { dto, int } from '../../../lib';
import { compileClass } from '../../../lib/binding/compile-class';
import { compilerWith, CodeCollection, collecting, type CodeFunction } from '../../../lib/binding/reading/compile';

const CODE = (): string => 'return value => value + offset;';
const collected = (owner: string, code: () => string): CodeCollection => {
  const collection = new CodeCollection();
  collecting.collection = collection;
  try {
    compilerWith([])(owner, code, [['offset', 1]]);
  } finally {
    delete collecting.collection;
  }
  return collection;
};
const functionsOf = (collection: CodeCollection, make: CodeFunction): Record<string, CodeFunction> =>
  Object.fromEntries([...collection.texts.keys()].map(fingerprint => [fingerprint, make]));

it('takes a function that was generated for the same code of the same class, and no other', () => {
  const functions = functionsOf(
    collected('Order', CODE),
    (offset: number) => value => `generated ${Number(value) + offset}`,
  );
  const compile = compilerWith([
    { functions: {}, whenStale: 'warn' },
    { functions, whenStale: 'warn' },
  ]);
  const result = (owner: string, code: () => string): unknown =>
    (compile(owner, code, [['offset', 1]]) as (value: number) => unknown)(2);
  expect(result('Order', CODE)).toBe('generated 3');
  expect(result('Line', CODE)).toBe(3);
  expect(result('Order', () => CODE().replace('+', '-'))).toBe(1);
});

it('throws if so configured and there is none, but not while code is collected', () => {
  const compile = compilerWith([{ functions: {}, whenStale: 'throw' }]);
  expect(() => compile('Order', CODE, [['offset', 1]])).toThrow(
    new TypeError(
      'the generated contexts have no code for Order as it is declared now. Run `npx bindonce generate` again, with a module that uses it, or keep class names in your bundler.',
    ),
  );
  collecting.collection = new CodeCollection();
  try {
    expect(() => compile('Order', CODE, [['offset', 1]])).not.toThrow();
    expect(collecting.collection.texts.size).toBe(1);
  } finally {
    delete collecting.collection;
  }
});

it('does not take a property that every object inherits for a function', () => {
  const functions = Object.create({ ...functionsOf(collected('Order', CODE), () => () => 'inherited') }) as object;
  const compile = compilerWith([{ functions: functions as Record<string, CodeFunction>, whenStale: 'warn' }]);
  expect((compile('Order', CODE, [['offset', 1]]) as (value: number) => unknown)(2)).toBe(3);
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
