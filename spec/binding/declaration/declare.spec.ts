import {
  bool,
  enumOf,
  field,
  file,
  formField,
  fromBody,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  guid,
  hasPermission,
  int,
  jsonField,
  list,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  dto,
  type Property,
  type UploadedFile,
  bindRequest,
  type AnyType,
} from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Line {
  @field(string) sku!: string;
  @field(int, { default: 1 }) quantity!: number;
}

class PlaceOrder {
  @routeParam(guid) customerId!: string;
  @fromHeader(string, { name: 'X-Tenant' }) tenant!: string;
  @field(list(Line)) items!: Line[];
  @queryParam(bool) rush = false;
  @fromClaim(string, { name: 'sub' }) userId!: string;
  @fromCookie(string, { required: false }) sid?: string | undefined;
  @hasPermission('orders:discount', { required: false }) mayDiscount!: boolean;
  @field(enumOf(['new', 'old'])) kind: 'new' | 'old' = 'new';
  @field(optional(string)) note: string | undefined;
  untouched = 'mine';
}

const sent = {
  path: `/${ID}?rush=true`,
  headers: { 'X-Tenant': 't', Cookie: 'sid=s' },
  json: { items: [{ sku: 'a' }, { sku: 'b', quantity: 2 }], untouched: 'theirs' },
};
const options = { route: '/:customerId', user: { sub: 'u', permissions: ['orders:discount'] } };

it('every function decorates', async () => {
  const { dto: bound } = await bind(PlaceOrder, sent, options);
  expect(bound).toEqual({
    customerId: ID,
    tenant: 't',
    items: [
      { sku: 'a', quantity: 1 },
      { sku: 'b', quantity: 2 },
    ],
    rush: true,
    userId: 'u',
    sid: 's',
    mayDiscount: true,
    kind: 'new',
    note: undefined,
    untouched: 'mine',
  });
  expect([bound instanceof PlaceOrder, bound?.items[0] instanceof Line]).toEqual([true, true]);
});

it('jsonField, formField, file, fromBody and plainText do, too', async () => {
  class Upload {
    @formField(string) title!: string;
    @field(file) photo!: UploadedFile;
  }
  class Pay {
    @jsonField(int) cents!: number;
  }
  class Whole {
    @fromBody(Line) line!: Line;
  }
  class Note {
    @plainText() text!: string;
  }
  expect(
    (
      await bind(
        Upload,
        {
          multipart: [
            ['title', 't'],
            ['photo', new File(['x'], 'a.png')],
          ],
        },
        urlEncoded,
      )
    ).dto,
  ).toMatchObject({ title: 't', photo: { originalname: 'a.png' } });
  expect((await bind(Pay, { path: '/?cents=1', json: { cents: 1250 } })).dto).toEqual({ cents: 1250 });
  expect((await bind(Whole, { json: { sku: 'a' } })).dto).toEqual({ line: { sku: 'a', quantity: 1 } });
  expect((await bind(Note, { body: 'hi' })).dto).toEqual({ text: 'hi' });
});

it('an initialiser is the default; without one, the option default is', async () => {
  class Page {
    @queryParam(int) size = 20;
    @queryParam(int, { default: 1 }) page!: number;
    @queryParam(list(string), { default: ['name'] }) sort!: string[];
    @queryParam(int, { default: 5 }) both = 6;
  }
  const { dto: bound } = await bind(Page);
  expect(bound).toEqual({ size: 20, page: 1, sort: ['name'], both: 6 });
  bound?.sort.push('x');
  expect((await bind(Page, { path: '/?size=&page=' })).dto).toEqual({ size: 20, page: 1, sort: ['name'], both: 6 });
  expect((await bind(Page, { path: '/?size=5' })).dto).toEqual({ size: 5, page: 1, sort: ['name'], both: 6 });
});

describe('inheritance', () => {
  class Base {
    @field(int) a!: number;
    @queryParam(int) page = 1;
  }
  class Derived extends Base {
    @field(int) b!: number;
  }
  class Undecorated extends Base {
    c = 3;
  }

  it.each([
    ['a base class', Base, { a: 1, page: 5 }],
    ['a derived class has both declarations', Derived, { a: 1, b: 2, page: 5 }],
    ['a derived class without declarations of its own', Undecorated, { a: 1, page: 5, c: 3 }],
  ])('%s', async (_what, Dto, value) => {
    expect((await bind<typeof Base>(Dto, { json: { a: 1, b: 2, c: 9 }, path: '/?page=5' })).dto).toEqual(value);
  });

  it('a decorated class can extend dto({...}), and the other way round', async () => {
    class Mixed extends dto({ a: int }) {
      @queryParam(int) b!: number;
    }
    expect((await bind(Mixed, { json: { a: 1 }, path: '/?b=2' })).dto).toEqual({ a: 1, b: 2 });
  });
});

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
