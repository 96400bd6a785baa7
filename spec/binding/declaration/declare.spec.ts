import {
  bindRequest,
  dto,
  field,
  fromBody,
  fromForm,
  fromHeader,
  fromQuery,
  int,
  string,
  type AnyType,
  type Property,
} from '../../../lib';
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

it.each<[string, (...given: never[]) => Property<unknown>]>([
  ['fromBody', fromBody],
  ['fromForm', fromForm],
  ['fromQuery', fromQuery],
])('%s refuses options, which only JavaScript can pass', (name, declare) => {
  const declared = (...more: unknown[]) => dto({ v: declare(...([Line, ...more] as never[])) });
  expect(() => declared({ required: false })).toThrow(
    `${name} takes no options; write ${name}(optional(T)) if it may be missing`,
  );
  expect(() => declared(undefined)).not.toThrow();
});

it('a property whose name no header can have needs the name of its header', () => {
  expect(() => dto({ 'größe x': fromHeader(string) })).toThrow(
    'fromHeader: no header can have the name of the property, "größe x"; give it one with the option name',
  );
  expect(() => dto({ 'größe x': fromHeader(string, { name: 'X-Size' }) })).not.toThrow();
});

it('dto({...}) makes a class that can be extended, with methods, inherited, and built by hand', async () => {
  class Priced extends Line {}
  const { dto: bound } = await bind(Priced, { json: { sku: 'a', quantity: 2 } });
  expect([bound instanceof Line, bound?.constructor, bound?.label]).toEqual([true, Priced, '2 x a']);
  expect(Object.assign(new Line(), { sku: 'b', quantity: 1 }).label).toBe('1 x b');
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
