import { z } from 'zod';
import {
  bool,
  dto,
  field,
  fromClaim,
  fromHeader,
  hasPermission,
  int,
  list,
  optional,
  queryParam,
  string,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

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
  expect(bound).toStrictEqual(
    Object.assign(Object.create(InShape.prototype) as InShape, {
      name: 'Ann',
      page: 1,
      size: 7,
      may: false,
    }),
  );
  expect({ ...{ note: 'kept', nick: 'kept', home: 'kept', tenant: 'kept', sub: 'kept' }, ...bound }).toMatchObject({
    note: 'kept',
    nick: 'kept',
    home: 'kept',
    tenant: 'kept',
    sub: 'kept',
  });
});

it('null in JSON is nothing for an optional type, and no key', async () => {
  expect(
    Object.keys(
      (await bind(InShape, { json: { name: 'Ann', note: null, home: null } })).dto ?? {
        note: 1,
      },
    ),
  ).not.toContain('note');
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
