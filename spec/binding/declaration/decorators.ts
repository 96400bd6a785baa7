import { bool, dto, enumOf, field, file, formField, fromBody, fromClaim, fromCookie, fromHeader } from '../../../lib';
import { guid, hasPermission, int, jsonField, list, optional, plainText, queryParam, routeParam } from '../../../lib';
import { string } from '../../../lib';
import type { UploadedFile } from '../../../lib';
import { bind, failures, outcome } from '../../support/one-endpoint';

/** What decorators promise in both of their kinds: declare.spec.ts has the standard ones, spec/legacy-decorators the others. */
export function describeDecorators(): void {
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
  const json = { items: [{ sku: 'a' }, { sku: 'b', quantity: 2 }], untouched: 'theirs' };
  const sent = { path: `/${ID}?rush=true`, headers: { 'X-Tenant': 't', Cookie: 'sid=s' }, json };
  const options = { route: '/:customerId', user: { sub: 'u', permissions: ['orders:discount'] } };

  it('every function decorates; what was not sent has no key', async () => {
    const { dto: bound } = await bind(PlaceOrder, sent, options);
    const items = [{ sku: 'a', quantity: 1 }, json.items[1]];
    const route = { customerId: ID, tenant: 't', items, rush: true, userId: 'u', sid: 's' };
    expect({ ...bound }).toStrictEqual({
      ...route,
      items: bound?.items,
      mayDiscount: true,
      kind: 'new',
      untouched: 'mine',
    });
    expect(bound?.items).toEqual(items);
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
    const multipart = [['title', 't'], ['photo', new File(['x'], 'a.png')]] as const; // prettier-ignore
    expect(await outcome(Upload, { multipart })).toMatchObject({ title: 't', photo: { originalname: 'a.png' } });
    expect(await outcome(Pay, { path: '/?cents=1', json: { cents: 1250 } })).toEqual({ cents: 1250 });
    expect(await outcome(Whole, { json: { sku: 'a' } })).toEqual({ line: { sku: 'a', quantity: 1 } });
    expect(await outcome(Note, { body: 'hi' })).toEqual({ text: 'hi' });
  });

  it('failures name the properties', async () => {
    const names = ['claim sub', 'header X-Tenant', 'json items[0].sku', 'query rush', 'route customerId'];
    const wrong = { path: '/x?rush=1', json: { items: [{}] } };
    expect(await failures(PlaceOrder, wrong, { route: '/:customerId' })).toEqual(names);
  });

  it('an initialiser is the default; without one, the option default is, or what its function makes', async () => {
    class Page {
      @queryParam(int) size = 20;
      @queryParam(int, { default: () => 1 }) page!: number;
      @queryParam(list(string), { default: ['name'] }) sort!: string[];
      @queryParam(int, { default: 5 }) both = 6;
    }
    const { dto: bound } = await bind(Page);
    const initial = { size: 20, page: 1, sort: ['name'], both: 6 };
    expect(bound).toEqual(initial);
    bound?.sort.push('x');
    expect(await outcome(Page, { path: '/?size=&page=' })).toEqual(initial);
    expect(await outcome(Page, { path: '/?size=5&page=7' })).toEqual({ ...initial, size: 5, page: 7 });
  });

  it('required: true wins over an initialiser, and over the option default', async () => {
    class Scope {
      @fromClaim(string, { required: true }) tenant = 'public';
      @fromHeader(int, { required: true, default: 42 }) level!: number;
      @field(int, { required: true }) page = 1;
    }
    expect(await failures(Scope, { method: 'GET' })).toEqual(['claim tenant', 'header level', 'query page']);
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
    class Mixed extends dto({ a: int }) {
      @queryParam(int) page!: number;
    }

    it.each([
      ['a base class', Base, { a: 1, page: 5 }],
      ['a derived class has both declarations', Derived, { a: 1, b: 2, page: 5 }],
      ['a derived class without declarations of its own', Undecorated, { a: 1, page: 5, c: 3 }],
      ['a decorated class that extends dto({...})', Mixed, { a: 1, page: 5 }],
      ['a declaration that replaces that of its base', Redeclared, { a: 7, page: 2 }],
    ])('%s', async (_what, Dto, value) => {
      expect(await outcome(Dto, { json: { a: 1, b: 2, c: 9 }, path: '/?page=5&a=7' })).toEqual(
        Dto === Redeclared || !('a' in value) ? value : { ...value, a: 7 },
      );
    });
  });

  it('the same function value is a decorator and an entry', async () => {
    const page = queryParam(int, { default: 1 });
    class A {
      @page page!: number;
    }
    class B extends dto({ page }) {}
    for (const Dto of [A, B]) expect(await outcome(Dto, { path: '/?page=4' })).toEqual({ page: 4 });
  });
}
