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
  fromHeader,
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
  type UploadedFile,
} from '../../lib';
import { bind, urlEncoded } from '../support/one-endpoint';

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

it('a function makes a default', async () => {
  class Page {
    @queryParam(int, { default: () => 1 }) page!: number;
    @queryParam(int) size = 20;
  }
  expect((await bind(Page, { path: '/?page=7' })).dto).toEqual({ page: 7, size: 20 });
  expect((await bind(Page)).dto).toEqual({ page: 1, size: 20 });
});

it('required: true wins over an initialiser, and over the option default', async () => {
  class Scope {
    @fromClaim(string, { required: true }) tenant = 'public';
    @fromHeader(int, { required: true, default: 42 }) level!: number;
    @field(int, { required: true }) page = 1;
  }
  expect((await bind(Scope, { method: 'GET' })).errors.map(({ name }) => name)).toEqual(['tenant', 'level', 'page']);
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

it('two declarations of one property are refused, and a derived class may declare it anew', async () => {
  expect(() => {
    class Twice {
      @queryParam(string) @fromHeader(string) tenant!: string;
    }
    return Twice;
  }).toThrow('tenant: it is declared twice, with fromHeader and with queryParam');
  class Base {
    @queryParam(string) tenant!: string;
  }
  class Derived extends Base {
    @fromHeader(string) override tenant = 'none';
  }
  expect((await bind(Derived, { path: '/?tenant=query', headers: { tenant: 'header' } })).dto?.tenant).toBe('header');
});
