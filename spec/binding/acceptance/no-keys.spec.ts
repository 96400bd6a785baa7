import { z } from 'zod';
import { bool, dto, field, fromBody, fromClaim, fromHeader, hasPermission, int, list, nullable } from '../../../lib';
import { optional, queryParam, string } from '../../../lib';
import type { AnyType } from '../../../lib';
import { bind, outcome } from '../../support/one-endpoint';

class Home {
  @field(string) street!: string;
  @field(optional(int)) floor: number | undefined;
  @field(optional(string)) door?: string;
}

class InShape extends dto({
  name: string,
  note: optional(string),
  nick: field(string, { required: false }),
  home: optional(dto({ street: string, floor: optional(int), door: optional(string) })),
  homes: optional(list(Home)),
  page: queryParam(int, { default: 1 }),
  size: field(int, { default: 7 }),
  tenant: fromHeader(optional(string)),
  sub: fromClaim(optional(string)),
  may: hasPermission('x', { required: false }),
  maybe: optional(string),
}) {
  untouched: string | undefined;
}

it('a value that was not sent has no key, so that it erases nothing', async () => {
  const { dto: bound } = await bind(InShape, { json: { name: 'Ann' } });
  const made = Object.create(InShape.prototype) as InShape;
  expect(bound).toStrictEqual(Object.assign(made, { name: 'Ann', page: 1, size: 7, may: false }));
});

it('a value that a reader makes undefined does not exist', async () => {
  const gone = z.string().transform(() => undefined);
  class Sent {
    @field(optional(gone)) a: undefined;
    @field(optional(z.string().transform(async () => Promise.resolve(undefined)))) b: unknown;
    @field(Home) home!: Home;
    @field(list(dto({ c: optional(gone) }))) list!: { c: undefined }[];
  }
  const { dto: bound } = await bind(Sent, { json: { a: 'x', b: 'y', home: { street: 's' }, list: [{ c: 'z' }] } });
  expect([Object.keys(bound ?? {}), Object.keys(bound?.home ?? {}), bound?.list.map(one => Object.keys(one))]).toEqual([
    ['home', 'list'],
    ['street'],
    [[]],
  ]);
});

describe('initialisers', () => {
  let made = 0;
  class Page {
    #seen = 0;
    @queryParam(int) size = 20;
    @queryParam(list(string)) sort: string[] = [];
    @queryParam(bool) rush = false;
    @queryParam(optional(string)) sometimes = made++ % 2 === 0 ? 'even' : undefined;
    get seen(): number {
      return this.#seen++;
    }
  }

  it('that come to nothing leave no key, and private fields stay', async () => {
    const keys: boolean[] = [];
    for (let time = 0; time < 4; time++) {
      const { dto: bound } = await bind(Page);
      keys.push(Object.hasOwn(bound ?? {}, 'sometimes') === (bound?.sometimes !== undefined));
      expect([bound?.seen, bound?.seen]).toEqual([0, 1]);
    }
    expect(keys).toEqual([true, true, true, true]);
  });
});

it('properties of a base class that is no dto have keys only if the class gives them a value', async () => {
  class Entity {
    id: string | undefined;
    version = 1;
    lines: string[] = [];
    get size(): number {
      return this.lines.length;
    }
  }
  class Draft extends Entity {
    @field(optional(string)) title: string | undefined;
    @field(optional(Home)) home?: Home;
    note: string | undefined;
  }
  class Wrapped extends dto({ draft: Draft, drafts: list(Draft) }) {}
  const { dto: bound } = await bind(Draft, { json: { home: { street: 's' } } });
  expect({ ...{ id: '7', title: 'kept', note: 'kept' }, ...bound }).toEqual({
    ...{ id: '7', title: 'kept', note: 'kept', version: 1, lines: [], home: { street: 's' } },
  });
  expect(bound?.size).toBe(0);
  const { dto: wrapped } = await bind(Wrapped, { json: { draft: { title: 't' }, drafts: [{}] } });
  expect([wrapped?.draft, wrapped?.drafts[0]].map(draft => Object.keys(draft ?? {}))).toEqual([
    ['version', 'lines', 'title'],
    ['version', 'lines'],
  ]);
});

class Point extends dto({ x: int }) {}
const noInt = 'The value null is not a whole number from -2147483648 to 2147483647.';
const refusing = { null: 'refuse' } as const;

/** A property, and what it is if JSON has null for it, and if JSON has nothing: undefined if it has no key. */
it.each<[string, Parameters<typeof dto>[0][string], unknown, unknown]>([
  ['int', int, noInt, 'A value is required.'],
  ['required: false', field(int, { required: false }), undefined, undefined],
  ['with a default', field(int, { default: 5 }), 5, 5],
  ['optional', optional(int), undefined, undefined],
  ['nullable', nullable(int), null, 'A value is required.'],
  ['nullable, required: false', field(nullable(int), { required: false }), null, undefined],
  ['nullable with a default', field(nullable(int), { default: 5 }), null, 5],
  ['nullable(optional)', nullable(optional(int)), null, undefined],
  ['optional(nullable)', optional(nullable(int)), null, undefined],
  ['optional(…, { null: refuse })', optional(int, refusing), noInt, undefined],
  ['optional(list, { null: refuse })', optional(list(int), refusing), 'The value null is not a JSON array.', undefined],
  ['optional(nullable, { null: refuse })', optional(nullable(int), refusing), null, undefined],
])('null, and nothing, in JSON: %s', async (_what, v, ofNull, ofNothing) => {
  const value = (one: unknown, name: string): unknown =>
    typeof one === 'string' ? [`json ${name}: ${one}`] : one === undefined ? {} : { v: one };
  for (const [json, one] of [
    [{ v: null }, ofNull],
    [{}, ofNothing],
  ] as const) {
    const [root, nested] = [value(one, 'v'), value(one, 'in.v')];
    const bound = await outcome(dto({ v }), { json });
    expect([bound, Object.keys(bound as object)]).toEqual([root, Object.keys(root as object)]);
    expect(await outcome(dto({ in: dto({ v }) }), { json: { in: json } })).toEqual(
      Array.isArray(nested) ? nested : { in: nested },
    );
  }
});

it.each<[string, AnyType]>([
  ['the whole body', optional(list(int), refusing)],
  ['a property that takes it', dto({ ids: fromBody(optional(list(int), refusing)) })],
])('optional(…, { null: "refuse" }) refuses null for %s', async (_what, Dto) => {
  expect(await outcome(Dto, { json: 'null' })).toEqual([
    expect.stringContaining('The value null is not a JSON array.'),
  ]);
});

it('the text null is null for an object that may be null, in a query, a header, a claim and a form', async () => {
  class Sent extends dto({ v: optional(nullable(Point)), all: optional(list(nullable(Point))) }) {}
  class Heads extends dto({ v: fromHeader(nullable(Point)), c: fromClaim(nullable(Point), { name: 'v' }) }) {}
  const blob = (text: string): File => new File([text], 'blob', { type: 'application/json' });
  const bound = { v: null, all: [{ x: 1 }, null] };
  expect(await outcome(Sent, { path: '/?v=null&all={"x":1}&all=null' })).toEqual(bound);
  expect(await outcome(Sent, { form: 'v=null&all={"x":1}&all=null' })).toEqual(bound);
  const files = [['v', blob('null')], ['all', blob('{"x":1}')], ['all', blob('null')]] as const; // prettier-ignore
  expect(await outcome(Sent, { multipart: files })).toEqual(bound);
  expect(await outcome(Sent, { path: '/?all=null' })).toEqual({ all: [null] });
  expect(await outcome(Heads, { headers: { v: 'null' } }, { user: { v: 'null' } })).toEqual({ v: null, c: null });
  expect(await outcome(dto({ v: nullable(string) }), { path: '/?v=null' })).toEqual({ v: 'null' });
});
