import { bindRequest, field, int } from '../../lib';
import { describeDecorators } from '../binding/declaration/decorators';

describe('decorators', describeDecorators);

it('these are legacy decorators: a prototype and a name', () => {
  const seen: unknown[][] = [];
  const look = (...given: unknown[]): void => {
    seen.push(given);
  };
  class Looked {
    @(look as (target: object, name: string) => void) n = 1;
  }
  expect(seen).toEqual([[Looked.prototype, 'n', undefined]]);
});

it('a type that cannot be bound is refused where it is declared', () => {
  expect(() => {
    class Static {
      @(field(int) as (target: object, name: string) => void) static n: number;
    }
    return Static;
  }).toThrow('field: only public instance properties with a plain name can be bound, not n');
  expect(() => {
    const key = Symbol('n');
    class Symbolic {
      @(field(int) as unknown as (target: object, name: symbol) => void) [key] = 1;
    }
    return Symbolic;
  }).toThrow('field: only public instance properties with a plain name can be bound, not Symbol(n)');
  expect(() => {
    class Method {
      @(field(int) as (target: object, name: string) => void) n(): number {
        return 1;
      }
    }
    return Method;
  }).toThrow('field: only public instance properties with a plain name can be bound, not n');
  expect(() => {
    class Getter {
      @(field(int) as (target: object, name: string) => void) get n(): number {
        return 1;
      }
    }
    return Getter;
  }).toThrow('field: only public instance properties with a plain name can be bound, not n');
  expect(() => {
    @(field(int) as unknown as (target: object) => void)
    class Order {}
    return Order;
  }).toThrow('field: only public instance properties with a plain name can be bound, not Order');
});

it('a property with no readable type is refused by its name', () => {
  expect(() => {
    class Wrong {
      @field(Date) when!: Date;
    }
    return bindRequest(Wrong);
  }).toThrow(/when/);
});
