import { leastTimes, NOISE, worked } from '../../support/processor-time';
import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { z } from 'zod';
import {
  dto,
  field,
  fromForm,
  fromQuery,
  idempotency,
  int,
  lazy,
  list,
  optional,
  string,
  type AnyType,
  type BindingLimits,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { all, refused, threeWays, type Names } from './three-ways';

class Item extends dto({ sku: string, sizes: optional(list(int)) }) {}
class Node extends dto({
  name: optional(string),
  next: optional(lazy((): AnyType => Node)),
  nodes: optional(list(lazy((): AnyType => Node))),
}) {}
class Target extends dto({
  t: optional(list(string)),
  items: optional(list(Item)),
  node: optional(Node),
  grid: optional(list(list(int))),
  name: optional(string),
}) {}
class Form extends dto({ all: fromForm(Target) }) {}
class Query extends dto({ all: fromQuery(Target) }) {}

/** Milliseconds of work, and memory, within which a hostile request is answered; what these guard against takes minutes. */
const QUICK = { milliseconds: 5_000, bytes: 300_000_000 };
const rows = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => row(index));
const repeat = (count: number, text: (index: number) => string): string => rows(count, text).join('');

/**
 * Bytes that the process has had in memory at most. (What it has now may grow by itself: a system may take the memory of
 * a process that waits, and give it back when it is used.)
 */
const peakMemory = (): number => process.resourceUsage().maxRSS * 1_024;

/** Sends a request and holds its cost against the bounds. */
async function quickly<D extends AnyType>(
  Dto: D,
  sent: Sent,
  limits: BindingLimits = {},
  before: readonly RequestHandler[] = [],
) {
  const [began, peak] = [worked(), peakMemory()];
  const outcome = await bind(Dto, sent, { ...urlEncoded, limits, before });
  expect(worked() - began).toBeLessThan(QUICK.milliseconds);
  expect(peakMemory() - peak).toBeLessThan(QUICK.bytes);
  expect(outcome.response.text.length).toBeLessThan(50_000);
  return outcome;
}

describe('an index', () => {
  const tooHigh = (name: string, index: number) =>
    refused({ name, detail: `The index ${index} is too high; 10000 items are allowed.` });

  it.each<[string, string, number]>([
    ['t[4294967294]', 't', 4294967294],
    ['t.4294967294', 't', 4294967294],
    ['t[10000]', 't', 10_000],
    ['items[4294967294].sku', 'items', 4294967294],
    ['items[10000][sku]', 'items', 10_000],
    ['node.nodes[4294967294].name', 'node.nodes', 4294967294],
    ['node.nodes[3].nodes[10000].name', 'node.nodes[3].nodes', 10_000],
    ['grid[0][4294967294]', 'grid[0]', 4294967294],
  ])('beyond the limit is refused under the collection: %s', async (sent, name, index) => {
    expect(await threeWays(Target, [[sent, '1']])).toEqual(tooHigh(name, index));
  });

  it.each(['t[99999999999]', 't[00000000010000]', `t[${'9'.repeat(40)}]`, 'items[99999999999].sku'])(
    'of any number of digits is refused: %s',
    async name => {
      expect(
        Object.values(await threeWays(Target, [[name, 'x']])).map(errors => (errors as { name: string }[])[0]?.name),
      ).toEqual(rows(3, () => (name.startsWith('t') ? 't' : 'items')));
    },
  );

  it.each<[string, object]>([
    ['t[9999]', { t: ['1'] }],
    ['items[9999].sku', { items: [{ sku: '1' }] }],
    ['grid[9999][9999]', { grid: [[1]] }],
  ])('at the limit is accepted, and makes no holes: %s', async (name, value) => {
    expect(await threeWays(Target, [[name, '1']])).toEqual(all(value));
  });

  it.each<[string, Names]>([
    [
      'alone',
      [
        ['other[4294967294]', '1'],
        ['other[4294967294].x', '1'],
      ],
    ],
    [
      'below a value',
      [
        ['name', 'y'],
        ['name[4294967294]', '1'],
      ],
    ],
    [
      'before a value',
      [
        ['name[4294967294]', '1'],
        ['name', 'y'],
      ],
    ],
    [
      'before another name',
      [
        ['other[4294967294]', '1'],
        ['other', 'y'],
      ],
    ],
  ])('that is not declared is ignored, %s', async (_where, names) => {
    expect(await threeWays(Target, [...names, ['t', 'x']])).toEqual(
      all({ t: ['x'], ...(names.some(([name]) => name === 'name') && { name: 'y' }) }),
    );
  });

  // A list of 30 million holes that is walked through is seconds of a process that does nothing else; of 4,294,967,294, minutes.
  const holes: Names = rows(
    4,
    index =>
      [
        [`x${index}[29999999]`, 'a'],
        [`x${index}[y]`, 'b'],
      ] as const,
  ).flat();

  it.each<[string, Sent]>([
    ['an urlencoded form', { form: holes }],
    ['a multipart form', { multipart: holes }],
    ['a query', { path: `/?${holes.map(pair => pair.join('=')).join('&')}` }],
  ])('with a name beside it costs nothing in %s', async (_what, sent) => {
    expect((await quickly(sent.path === undefined ? Form : Query, sent)).status).toBe(200);
  });

  it('with a name beside it costs nothing in a form behind idempotency()', async () => {
    expect(
      (
        await quickly(Form, { multipart: holes, headers: { 'Idempotency-Key': 'k' } }, {}, [
          idempotency({ store: new Keyv() }),
        ])
      ).status,
    ).toBe(200);
  });

  it('is bounded for a Standard Schema, too', async () => {
    const { urlencoded, query } = await threeWays(z.object({ t: z.array(z.string()).optional() }), [
      ['t[4294967294]', 'x'],
    ]);
    expect([urlencoded, query]).toMatchObject([[{ name: 't', in: 'form' }], [{ name: 't', in: 'query' }]]);
  });
});

describe('items', () => {
  const byName: [string, (index: number, count: number) => string][] = [
    ['by repeated names', () => 't'],
    ['by empty brackets', () => 't[]'],
    ['by index', index => `t[${index}]`],
    ['by index, backwards', (index, count) => `t[${count - 1 - index}]`],
    ['by an index of objects', index => `items[${index}].sku`],
    ['by an index of objects, in brackets and backwards', (index, count) => `items[${count - 1 - index}][sku]`],
  ];
  const namesOf = (count: number, name: (index: number, count: number) => string): Names =>
    rows(count, index => [name(index, count), String(index)]);

  const valuesOf = (bound: { all: Target } | undefined): string[] | undefined =>
    bound?.all.t ?? bound?.all.items?.map(({ sku }) => sku);

  it.each(byName)('%s: 21, 1,000 and 10,000 arrive in order, and one more is refused', async (_how, name) => {
    const backwards = name(0, 2) !== name(0, 1);
    for (const count of [21, 1_000, 10_000]) {
      expect(valuesOf((await quickly(Form, { form: namesOf(count, name) })).dto)).toEqual(
        rows(count, index => String(backwards ? count - 1 - index : index)),
      );
    }
    const { status, errors } = await quickly(Form, { form: namesOf(10_001, name) });
    expect([status, errors.length, errors[0]?.in]).toEqual([400, 1, 'form']);
  });

  it.each(byName)('%s: 21 and 500 arrive from a query, 21 and 1,000 from a multipart form', async (_how, name) => {
    for (const many of [21, 500])
      expect(
        valuesOf(
          (
            await quickly(Query, {
              method: 'GET',
              path: `/?${namesOf(many, name)
                .map(pair => pair.join('='))
                .join('&')}`,
            })
          ).dto,
        ),
      ).toHaveLength(many);
    for (const many of [21, 1_000])
      expect(valuesOf((await quickly(Form, { multipart: namesOf(many, name) })).dto)).toHaveLength(many);
  });

  it.each<[string, Names, string]>([
    ['repeated names', rows(4, index => ['t', `${index}`]), 't'],
    ['an index', [['t[3]', 'x']], 't'],
    ['commas', [['t', 'a,b,c,d']], 't'],
    ['a JSON array', [['t', '["a","b","c","d"]']], 't'],
    [
      'objects with and without an index together',
      [
        ['items', '{"sku":"a"}'],
        ['items', '{"sku":"b"}'],
        ['items[0].sku', 'c'],
        ['items[1].sku', 'd'],
      ],
      'items',
    ],
    [
      'a collection in an item',
      [['items[2].sku', 'a'], ...rows(4, index => ['items[2].sizes', `${index}`] as const)],
      'items[2].sizes',
    ],
    ['collections in a collection', [['grid[1][3]', '1']], 'grid[1]'],
  ])('limits.items bounds %s', async (_what, names, name) => {
    expect(Object.values(await threeWays(Target, names, { limits: { items: 3 } }))).toMatchObject(
      rows(3, () => [{ name }]),
    );
    expect(Object.values(await threeWays(Target, names, { limits: { items: 4 } })).filter(Array.isArray)).toEqual([]);
  });
});

describe('levels', () => {
  const deep = (levels: number): string => `${'next.'.repeat(levels)}name`;

  it.each<[string, (levels: number) => string]>([
    ['dots', levels => deep(levels)],
    ['brackets', levels => `next${'[next]'.repeat(levels - 1)}[name]`],
  ])('%s: as many as the limit are bound, one more is refused', async (_how, name) => {
    for (const depth of [3, 32]) {
      const nested = rows(depth, () => 0).reduce<object>(next => ({ next }), { name: 'x' });
      expect(await threeWays(Node, [[name(depth), 'x']], { limits: { depth } })).toEqual(all(nested));
      expect(Object.values(await threeWays(Node, [[name(depth + 1), 'x']], { limits: { depth } }))).toMatchObject(
        rows(3, () => [{ detail: expect.stringContaining(`more than ${depth} levels`) as string }]),
      );
    }
  });

  it('those of JSON text count, too, below those of its name', async () => {
    const json = (levels: number): string => `${'{"next":'.repeat(levels)}{}${'}'.repeat(levels)}`;
    expect(
      Object.values(await threeWays(Node, [['next.next', json(1)]], { limits: { depth: 3 } })).filter(Array.isArray),
    ).toEqual([]);
    expect(Object.values(await threeWays(Node, [['next.next', json(2)]], { limits: { depth: 3 } }))).toMatchObject(
      rows(3, () => [{ detail: 'There are more than 3 levels of objects and lists inside each other.' }]),
    );
  });

  it.each(
    ['t', 'node', 'node.nodes[0]', 'items[0]', 'name', 'other'].flatMap(root =>
      ['[a]', '.a', '[0]', '.next', '[]', '[', '.', ']['].map(step => [root, step]),
    ),
  )('10,000 levels below %s by %s are refused', async (root, step) => {
    const { status, errors } = await quickly(Form, { form: `${root}${step.repeat(10_000)}=x` });
    expect([status, errors.length]).toEqual([400, 1]);
  });

  it.each(['[a]', '.a'])('10,000 levels by %s are refused in a multipart form, 4,000 in a query', async step => {
    expect((await quickly(Form, { multipart: [[`node${step.repeat(10_000)}`, 'x']] })).status).toBe(400);
    expect((await quickly(Query, { method: 'GET', path: `/?node${step.repeat(4_000)}=x` })).status).toBe(400);
    expect((await quickly(Query, { method: 'GET', path: `/?node${step.repeat(10_000)}=x` })).status).toBe(431);
  });
});

it.each<[string, Sent, number]>([
  ['100,000 names', { form: repeat(100_000, index => `f${index}=&`) }, 413],
  ['100,000 fields of one name', { form: repeat(100_000, () => 't=x&') }, 413],
  ['100,000 fields of nested names', { form: repeat(100_000, index => `t[${index}]=&`) }, 413],
  ['30,000 multipart fields', { multipart: rows(30_000, index => [`items[${index}].sku`, 'x']) }, 413],
  ['20,000 items of which each is refused', { form: repeat(19_999, index => `items[${index >> 1}].x=&`) }, 400],
  ['10,000 objects that each lack a value', { form: repeat(10_000, index => `items[${index}].sizes=x&`) }, 400],
  [
    '10,000 different trees',
    {
      form: repeat(
        10_000,
        index => `node${[0, 2, 4, 6, 8, 10, 12].map(bit => `.nodes[${(index >> bit) & 3}]`).join('')}.name=&`,
      ),
    },
    200,
  ],
  ['20,000 names below one', { form: repeat(19_999, () => `node${'.next'.repeat(8)}.name=&`) }, 200],
  ['a name of a megabyte', { form: `${'x'.repeat(1_000_000)}=1` }, 200],
  ['a name of a megabyte in brackets', { form: `t[${'x'.repeat(1_000_000)}]=1` }, 200],
  ['an open bracket a million times', { form: `t${'['.repeat(1_000_000)}=1` }, 400],
  ['a dot a million times', { form: `t${'.'.repeat(1_000_000)}=1` }, 400],
  ['a multipart name of a megabyte', { multipart: [['x'.repeat(1_000_000), '1']] }, 400],
  ['a name of 15 kB in a query', { path: `/?${'x'.repeat(15_000)}=1` }, 200],
  ['JSON text 30,000 objects deep', { form: [['node', `${'{"next":'.repeat(30_000)}{}${'}'.repeat(30_000)}`]] }, 400],
  ['400,000 commas', { form: `t=${'a,'.repeat(400_000)}a` }, 400],
  ['50,000 JSON items', { form: [['t', `[${repeat(50_000, () => '"a",')}"a"]`]] }, 400],
])('a bounded, quick answer: %s', async (_what, sent, expected) => {
  expect((await quickly(sent.path === undefined ? Form : Query, sent)).status).toBe(expected);
});

it('one nested name 19,999 times costs no more than 19,999 names', async () => {
  const [repeated, names] = await leastTimes(
    () => bind(Form, { form: repeat(19_999, () => 'items[0].sku=&') }, urlEncoded),
    () => bind(Form, { form: repeat(19_999, index => `f${index}=&`) }, urlEncoded),
  );
  expect(repeated).toBeLessThan(12 * names + NOISE);
});

it('failures are listed up to their limit', async () => {
  const names: Names = rows(500, index => [`items[${index}].sizes`, 'x']);
  expect(Object.values(await threeWays(Target, names)).map(errors => (errors as unknown[]).length)).toEqual([
    100, 100, 100,
  ]);
  expect(
    Object.values(await threeWays(Target, names, { limits: { failures: 3 } })).map(errors =>
      (errors as { name: string }[]).map(({ name }) => name),
    ),
  ).toEqual(rows(3, () => ['items[0].sku', 'items[0].sizes', 'items[1].sku']));
});

describe('a form that was parsed before', () => {
  class Named extends dto({
    all: fromForm(
      class extends dto({ a: field(string), b: optional(string), c: optional(string), d: optional(string) }) {},
    ),
  }) {}
  const fields: Names = [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', '4'],
  ];
  const parsers: [string, RequestHandler, (names: Names) => Sent][] = [
    ['express.urlencoded({ extended: true })', express.urlencoded({ extended: true }), form => ({ form })],
    ['multer().none()', multer().none(), names => ({ multipart: names })],
  ];

  it.each(parsers)(
    'may have as many fields as the limit, and with one more it is refused, not cut off: %s',
    async (_parser, parser, sent) => {
      expect((await quickly(Named, sent(fields), { fields: 4 }, [parser])).dto).toEqual({
        all: { a: '1', b: '2', c: '3', d: '4' },
      });
      for (const limit of [3, 2, 1])
        expect((await quickly(Named, sent(fields), { fields: limit }, [parser])).status).toBe(413);
    },
  );

  it.each(parsers)('is answered quickly with any index: %s', async (_parser, parser, sent) => {
    for (const name of [
      't[29999999]',
      'items[29999999][sku]',
      'other[29999999]',
      'node[nodes][29999999][name]',
      't[4294967294]',
    ])
      expect((await quickly(Form, sent([[name, '1']]), {}, [parser])).status).toBeLessThan(500);
  });

  it('of too many levels is refused', async () => {
    expect(
      (await quickly(Form, { multipart: [[`node${'[next]'.repeat(100)}`, 'x']] }, {}, [multer().none()])).errors,
    ).toMatchObject([{ in: 'form', detail: 'The name has more than 32 levels.' }]);
  });
});
