import { bindRequest, dto, int, queryParam, string, type AnyType } from '../../../lib';
import { bind } from '../../support/one-endpoint';

describe('dto({...})', () => {
  it('makes a class that can be extended, with methods, and built by hand', async () => {
    class Line extends dto({ sku: string, quantity: int }) {
      get label(): string {
        return `${this.quantity} x ${this.sku}`;
      }
    }
    const { dto: bound } = await bind(Line, { json: { sku: 'a', quantity: 2 } });
    expect([bound instanceof Line, bound?.label]).toEqual([true, '2 x a']);
    expect(Object.assign(new Line(), { sku: 'b', quantity: 1 }).label).toBe('1 x b');
  });

  it('is inherited: a class of a class binds all of their properties', async () => {
    class Base extends dto({ a: int, b: queryParam(int, { default: 5 }) }) {}
    class Derived extends Base {
      get sum(): number {
        return this.a + this.b;
      }
    }
    const { dto: bound } = await bind(Derived, { path: '/?a=1' });
    expect([bound?.sum, bound instanceof Base]).toEqual([6, true]);
    expect((await bind(Base, { path: '/?a=1' })).dto?.constructor).toBe(Base);
  });
});

describe('an entry that is not a type is refused when the class is made, by name', () => {
  class Plain {
    when = new Date();
  }

  it.each<[string, AnyType, string]>([
    ['a constructor that is no dto', Date, 'Date'],
    ['a plain class', Plain, 'Plain'],
    ['a function', (() => 1) as unknown as AnyType, 'value'],
  ])('when the middleware is made, where a parser or a converter could have been given: %s', (_what, type, name) => {
    class Meeting extends dto({ fine: int, when: type }) {}
    expect(() => bindRequest(Meeting)).toThrow(
      `bindRequest: Meeting.when: ${name} has no declared properties and no static tryParse`,
    );
  });
});

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['text', 'sku'],
  ['a list', [string]],
  ['a function', () => string],
])('an invalid shape is refused when it is declared, and the message shows a valid one: %s', (_title, given) => {
  expect(() => dto(given as never)).toThrow(
    new TypeError(
      'dto takes an object with the type of each property, for example dto({ sku: string, quantity: int })',
    ),
  );
});
