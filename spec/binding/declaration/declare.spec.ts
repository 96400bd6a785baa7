import { dto, field, int, string } from '../../../lib';
import { bind } from '../../support/one-endpoint';
import { describeDecorators } from './decorators';

class Line extends dto({ sku: string, quantity: int }) {
  get label(): string {
    return `${this.quantity} x ${this.sku}`;
  }
}

describe('decorators', describeDecorators);

it('a type that cannot be bound is refused where it is declared', () => {
  expect(() => {
    class Static {
      @field(int) static n: number;
    }
    return Static;
  }).toThrow('field: only public instance properties with a plain name can be bound, not n');
  expect(() => {
    class Private {
      @field(int) #n = 1;
      get n() {
        return this.#n;
      }
    }
    return Private;
  }).toThrow('field: only public instance properties with a plain name can be bound, not #n');
  expect(() => {
    const key = Symbol('n');
    class Symbolic {
      @field(int) [key] = 1;
    }
    return Symbolic;
  }).toThrow('not Symbol(n)');
});

it('dto({...}) makes a class that can be extended, with methods, inherited, and built by hand', async () => {
  class Priced extends Line {}
  const { dto: bound } = await bind(Priced, { json: { sku: 'a', quantity: 2 } });
  expect([bound instanceof Line, bound?.constructor, bound?.label]).toEqual([true, Priced, '2 x a']);
  expect(Object.assign(new Line(), { sku: 'b', quantity: 1 }).label).toBe('1 x b');
});
