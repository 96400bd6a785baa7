import {
  bindRequest,
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

it('failures name the properties', async () => {
  expect(
    (await bind(PlaceOrder, { path: '/x?rush=1', json: { items: [{}] } }, { route: '/:customerId' })).errors.map(
      ({ name, in: source }) => `${source} ${name}`,
    ),
  ).toEqual(['json items[0].sku', 'route customerId', 'query rush', 'header X-Tenant', 'claim sub']);
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

it('a value that was not sent has no key, at the root and in a nested dto', async () => {
  const { dto: bound } = await bind(
    PlaceOrder,
    { ...sent, headers: { 'X-Tenant': 't' }, json: { items: [{ sku: 'a' }] } },
    options,
  );
  expect(Object.keys(bound ?? {})).toEqual([
    'customerId',
    'tenant',
    'items',
    'rush',
    'userId',
    'mayDiscount',
    'kind',
    'untouched',
  ]);
  class Trip {
    @field(optional(Line)) line?: Line;
    @field(optional(string)) note?: string;
  }
  class Plan {
    @field(Trip) trip!: Trip;
  }
  expect(Object.keys((await bind(Plan, { json: { trip: { note: 'n' } } })).dto?.trip ?? {})).toEqual(['note']);
});

describe('inheritance', () => {
  class Base {
    @field(int) a!: number;
    @queryParam(int) page = 1;
  }
  class Derived extends Base {
    @field(int) b!: number;
  }
  class Redeclared extends Base {
    @queryParam(int) override a = undefined as unknown as number;
    @fromHeader(int, { fallback: false }) override page = 2;
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

  it("a derived class's declaration replaces that of its base, which is not changed", async () => {
    expect((await bind(Redeclared, { json: { a: 1 }, path: '/?a=7&page=5' })).dto).toEqual({ a: 7, page: 2 });
    expect((await bind(Redeclared, { json: { a: 1 } })).errors).toMatchObject([{ name: 'a', in: 'query' }]);
    expect((await bind(Base, { json: { a: 1 } })).dto).toEqual({ a: 1, page: 1 });
  });

  it('a decorated class can extend dto({...}), and the other way round', async () => {
    class Mixed extends dto({ a: int }) {
      @queryParam(int) b!: number;
    }
    expect((await bind(Mixed, { json: { a: 1 }, path: '/?b=2' })).dto).toEqual({ a: 1, b: 2 });
  });
});

it('the same function value is a decorator and an entry', async () => {
  const page = queryParam(int, { default: 1 });
  class A {
    @page page!: number;
  }
  class B extends dto({ page }) {}
  for (const Dto of [A, B]) expect((await bind(Dto, { path: '/?page=4' })).dto).toEqual({ page: 4 });
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

it('a member that is not a field is refused by its name', () => {
  // The compiler refuses it, too.
  const page = queryParam(int) as unknown as (value: unknown, context: DecoratorContext) => undefined;
  const used: readonly [() => unknown, string][] = [
    [
      () =>
        class {
          @page save(): void {}
        },
      'save',
    ],
    [
      () =>
        class {
          @page get total(): number {
            return 1;
          }
        },
      'total',
    ],
    [
      () =>
        class {
          @page accessor n = 1;
        },
      'n',
    ],
    [
      () => {
        @page
        class Order {}
        return Order;
      },
      'Order',
    ],
    [() => (page as () => void)(), 'undefined'],
  ];
  for (const [make, what] of used)
    expect(make).toThrow(`queryParam: only public instance properties with a plain name can be bound, not ${what}`);
});

it('a compiler without decorator metadata is reported, with advice', () => {
  // The context of esbuild 0.21.0 and of Babel's decorators of version 2023-01.
  const context = { kind: 'field', name: 'id', static: false, private: false } as ClassFieldDecoratorContext<
    object,
    number
  >;
  expect(() => {
    field(int)(undefined, context);
  }).toThrow(
    /^field: the decorator of id got no context.metadata: .* Use TypeScript 5.2, .* or dto\(\{\.\.\.\}\), which works everywhere$/,
  );
});

it('a property with no readable type is refused by its name', () => {
  expect(() => {
    class Wrong {
      @field(Date) when!: Date;
    }
    return bindRequest(Wrong);
  }).toThrow(/when/);
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
