import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import {
  dto,
  formField,
  fromForm,
  fromHeader,
  fromQuery,
  list,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type UploadedFile,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { all, refused, threeWays, type Names, type ThreeWays } from '../acceptance/three-ways';

const split = (sent: unknown): unknown => (typeof sent === 'string' ? sent.split(';') : sent);

const zodTag = z.object({ n: z.string() });
const valibotTag = v.object({ n: v.string() });
const arkTag = type({ n: 'string' });

/** What three libraries make of the same words: texts, objects, one object and text, all optional. */
const wholes: readonly [library: string, schema: AnyType][] = [
  [
    'zod',
    z.object({
      tags: z.array(z.string()).optional(),
      lines: z.array(zodTag).optional(),
      one: zodTag.optional(),
      text: z.string().optional(),
    }),
  ],
  [
    'valibot',
    v.object({
      tags: v.optional(v.array(v.string())),
      lines: v.optional(v.array(valibotTag)),
      one: v.optional(valibotTag),
      text: v.optional(v.string()),
    }),
  ],
  ['arktype', type({ 'tags?': 'string[]', 'lines?': arkTag.array(), 'one?': arkTag, 'text?': 'string' })],
];

describe.each(wholes)('a schema of %s that takes all names', (_library, schema) => {
  it.each<[string, Names, object]>([
    ['a JSON array', [['tags', '["a","b,c"]']], { tags: ['a', 'b,c'] }],
    ['a comma-separated list', [['tags', 'a,b']], { tags: ['a', 'b'] }],
    ['one value', [['tags', 'a']], { tags: ['a'] }],
    ['text in brackets that is no JSON', [['tags', '[dev] team']], { tags: ['[dev] team'] }],
    ['a JSON array of objects', [['lines', '[{"n":"a"},{"n":"b"}]']], { lines: [{ n: 'a' }, { n: 'b' }] }],
    ['JSON objects with commas between them', [['lines', '{"n":"a"},{"n":"b"}']], { lines: [{ n: 'a' }, { n: 'b' }] }],
    [
      'a JSON object for each item',
      [
        ['lines', '{"n":"a"}'],
        ['lines', '{"n":"b"}'],
      ],
      { lines: [{ n: 'a' }, { n: 'b' }] },
    ],
    ['a JSON object, where one item is expected', [['lines', '{"n":"a"}']], { lines: [{ n: 'a' }] }],
    ['a JSON object', [['one', '{"n":"a"}']], { one: { n: 'a' } }],
    ['JSON where text is expected', [['text', '["a"]']], { text: '["a"]' }],
  ])('reads %s', async (_what, names, value) => {
    expect(await threeWays(schema, names)).toEqual(all(value));
  });

  it('has its issues in the one item that is a JSON object, or in the object', async () => {
    const detail = expect.any(String) as string;
    expect(await threeWays(schema, [['lines', '{"n":1}']])).toEqual(refused({ name: 'lines[0].n', detail }));
    expect(await threeWays(schema, [['one', '{"n":1}']])).toEqual(refused({ name: 'one.n', detail }));
  });

  it('has its issues where the JSON is wrong, beside those of other names', async () => {
    const detail = expect.any(String) as string;
    const names: Names = [
      ['one', '{"n":1}'],
      ['tags', '["a",2]'],
    ];
    const came = (await threeWays(schema, names)).query as { name: string }[];
    expect(came.map(({ name }) => name).sort()).toEqual(['one.n', 'tags[1]']);
    expect(await threeWays(schema, [['one', 'x']])).toEqual(refused({ name: 'one', detail }));
  });

  it.each([
    [
      'levels',
      `${'['.repeat(9)}${']'.repeat(9)}`,
      'There are more than 8 levels of objects and lists inside each other.',
    ],
    ['items', '[1,2,3,4]', 'There is an array of more than 3 items.'],
  ])('has JSON of limited %s', async (_of, json, detail) => {
    const limits = { depth: 8, items: 3 };
    expect(await threeWays(schema, [['tags', json]], { limits })).toEqual(refused({ name: 'tags', detail }));
  });

  it('has no JSON that is too deep for a parser', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const { errors } = await bind(dto({ all: fromForm(schema) }), { form: [['tags', deep]] }, urlEncoded);
    expect(errors).toEqual([
      { name: 'tags', in: 'form', detail: 'There are more than 32 levels of objects and lists inside each other.' },
    ]);
  });
});

/** The same objects with a list in each, in three libraries. */
const nested: readonly [library: string, schema: AnyType][] = [
  ['zod', z.object({ items: z.array(z.object({ n: z.coerce.number(), tags: z.array(zodTag).optional() })) })],
  [
    'valibot',
    v.object({
      items: v.array(
        v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()), tags: v.optional(v.array(valibotTag)) }),
      ),
    }),
  ],
  ['arktype', type({ items: type({ n: 'string.numeric.parse', 'tags?': arkTag.array() }).array() })],
];

describe.each(nested)('an issue of %s has the name that the client sent', (_library, schema) => {
  const namesOf = async (names: Names): Promise<ThreeWays<string[]>> => {
    const { urlencoded, multipart, query } = await threeWays(schema, names);
    const sent = (errors: unknown): string[] => (errors as { name: string }[]).map(({ name }) => name);
    return { urlencoded: sent(urlencoded), multipart: sent(multipart), query: sent(query) };
  };

  it.each<[string, Names, string]>([
    [
      'items[1].n=1&items[2].n=x',
      [
        ['items[1].n', '1'],
        ['items[2].n', 'x'],
      ],
      'items[2].n',
    ],
    [
      'items[7].n=x&items[2].n=1',
      [
        ['items[7].n', 'x'],
        ['items[2].n', '1'],
      ],
      'items[7].n',
    ],
    [
      'a name in brackets',
      [
        ['items[3][n]', 'x'],
        ['items[0][n]', '1'],
      ],
      'items[3].n',
    ],
    [
      'an index below an index',
      [
        ['items[4].n', '1'],
        ['items[4].tags[6].n', 'a'],
        ['items[4].tags[9].x', 'b'],
      ],
      'items[4].tags[9].n',
    ],
    ['JSON under an index', [['items[5]', '{"n":"1","tags":[{"n":"a"},{"n":1}]}']], 'items[5].tags[1].n'],
    [
      'JSON beside an index',
      [
        ['items[]', '{"n":"x"}'],
        ['items[5].n', '1'],
      ],
      'items[0].n',
    ],
  ])('%s', async (_what, names, name) => {
    expect(await namesOf(names)).toEqual(all([name]));
  });
});

it.each<[string, AnyType]>([
  ['of one parameter', dto({ n: queryParam(z.array(z.coerce.number())) })],
  ['of an item', dto({ n: queryParam(list(z.coerce.number())) })],
])('an issue of a schema %s has the index that the client sent', async (_where, Dto) => {
  const { errors } = await bind(Dto, { method: 'GET', path: '/?n[5]=x&n[1]=1' });
  expect(errors.map(({ name }) => name)).toEqual(['n[5]']);
});

it('an issue in a file of JSON has the index that the client sent', async () => {
  const schema = z.object({ items: z.array(z.object({ n: z.number() })) });
  const json = (text: string): File => new File([text], 'a.json', { type: 'application/json' });
  const multipart = [
    ['items[6]', json('{"n":"x"}')],
    ['items[2]', json('{"n":1}')],
  ] as const;
  const { errors } = await bind(dto({ all: fromForm(schema) }), { multipart }, { allowFormData: true });
  expect(errors.map(({ name }) => name)).toEqual(['items[6].n']);
});

/** Arrays of objects in three libraries. */
const lines: readonly [library: string, schema: AnyType][] = [
  ['zod', z.array(zodTag)],
  ['valibot', v.array(valibotTag)],
  ['arktype', arkTag.array()],
];

describe.each(lines)('an array of objects of %s under one name', (_library, schema) => {
  class Tagged extends dto({ lines: queryParam(schema) }) {}
  const read = async (query: string) => {
    const { dto: bound, errors } = await bind(Tagged, { method: 'GET', path: `/?${query}` }, { limits: { items: 3 } });
    return bound?.lines ?? errors.map(({ name }) => name);
  };

  it.each<[string, string, unknown]>([
    ['one JSON object', 'lines={"n":"a"}', [{ n: 'a' }]],
    ['one JSON object with brackets', 'lines[]={"n":"a"}', [{ n: 'a' }]],
    ['a JSON object for each item', 'lines={"n":"a"}&lines={"n":"b"}', [{ n: 'a' }, { n: 'b' }]],
    ['a JSON object for each index', 'lines[1]={"n":"b"}&lines[0]={"n":"a"}', [{ n: 'a' }, { n: 'b' }]],
    ['an object that is refused', 'lines={"n":1}', ['lines[0].n']],
    ['objects of which one is refused', 'lines={"n":"a"}&lines={"n":1}', ['lines[1].n']],
    ['an object and text', 'lines={"n":"a"}&lines=b', ['lines[1]']],
    ['an object and JSON of too many items', 'lines={"n":"a"}&lines=[1,2,3,4]', ['lines[1]']],
  ])('reads %s', async (_what, query, value) => {
    expect(await read(query)).toEqual(value);
  });
});

/** Two arrays of objects in three libraries. */
const pairs: readonly [library: string, schema: AnyType][] = [
  ['zod', z.object({ a: z.array(zodTag), b: z.array(zodTag) })],
  ['valibot', v.object({ a: v.array(valibotTag), b: v.array(valibotTag) })],
  ['arktype', type({ a: arkTag.array(), b: arkTag.array() })],
];

describe.each(pairs)('two arrays of objects of %s, each of one JSON object,', (_library, schema) => {
  it('are both read', async () => {
    const names: Names = [
      ['a', '{"n":"x"}'],
      ['b', '{"n":"y"}'],
    ];
    expect(await threeWays(schema, names)).toEqual(all({ a: [{ n: 'x' }], b: [{ n: 'y' }] }));
  });

  it('are refused where an object is', async () => {
    const outcome = await threeWays(schema, [
      ['a', '{"n":"x"}'],
      ['b', '{"n":1}'],
    ]);
    const names = Object.values(outcome).map(errors => (errors as { name: string }[]).map(({ name }) => name));
    expect(names).toEqual([['b[0].n'], ['b[0].n'], ['b[0].n']]);
  });
});

it('a union of objects takes one item in brackets; a discriminated union, which says what it refuses, without', async () => {
  const kinds = [
    z.object({ kind: z.literal('a'), size: z.coerce.number() }),
    z.object({ kind: z.literal('b'), tags: z.array(z.string()) }),
  ] as const;
  const read = async (schema: AnyType, query: string) =>
    (await bind(dto({ all: fromQuery(schema) }), { method: 'GET', path: `/?kind=b&${query}` })).dto;
  const value = { all: { kind: 'b', tags: ['x'] } };
  expect(await read(z.union(kinds), 'tags[]=x')).toEqual(value);
  expect(await read(z.discriminatedUnion('kind', kinds), 'tags=x')).toEqual(value);
});

it('a schema of one object has its issue, and is not asked for an array, where it refuses the object', async () => {
  const asked: unknown[] = [];
  const schema = z.object({ n: z.string() }).refine(one => asked.push(one) > 0 && one.n !== 'a', 'not a');
  const { errors } = await bind(dto({ one: queryParam(schema) }), { method: 'GET', path: '/?one={"n":"a"}' });
  expect([errors.map(({ detail }) => detail), asked]).toEqual([['not a'], [{ n: 'a' }]]);
});

describe('files where a schema expects an array', () => {
  const picture = z.custom<UploadedFile>(sent => (sent as UploadedFile).mimetype.startsWith('image/'), 'not a picture');
  class Flat extends dto({ photos: formField(z.array(picture)), main: formField(picture.optional()) }) {}
  class Whole extends dto({ all: fromForm(z.object({ photos: z.array(picture), main: picture.optional() })) }) {}
  const sent = async (Dto: AnyType, ...names: readonly (readonly [field: string, name: string, type?: string])[]) => {
    const {
      status,
      dto: bound,
      errors,
    } = await bind(
      Dto,
      {
        multipart: names.map(([field, name, mimetype = 'image/png']) => [
          field,
          new File(['x'], name, { type: mimetype }),
        ]),
      },
      { allowFormData: true },
    );
    const { photos } = ((bound as { all?: unknown } | undefined)?.all ?? bound ?? {}) as Partial<Flat>;
    return [status, photos?.map(({ originalname }) => originalname) ?? errors];
  };

  it.each([
    ['a form field', Flat],
    ['a whole form', Whole],
  ])('may be one or several: %s', async (_where, Dto) => {
    expect(await sent(Dto, ['photos', 'a.png'])).toEqual([200, ['a.png']]);
    expect(await sent(Dto, ['photos', 'a.png'], ['photos', 'b.png'])).toEqual([200, ['a.png', 'b.png']]);
  });

  it.each([
    ['a form field', Flat],
    ['a whole form', Whole],
  ])('are refused where the schema refuses them, and so is one file that it refuses: %s', async (_where, Dto) => {
    const refusal = (name: string, detail: unknown): unknown[] => [
      400,
      expect.arrayContaining([{ name, in: 'form', detail }]) as unknown,
    ];
    expect(await sent(Dto, ['photos', 'a.pdf', 'application/pdf'])).toEqual(refusal('photos[0]', 'not a picture'));
    expect(await sent(Dto, ['photos', 'a.png'], ['main', 'b.pdf', 'application/pdf'])).toEqual(
      refusal('main', 'not a picture'),
    );
  });

  it.each([
    ['a form field', (schema: AnyType) => dto({ photo: formField(schema) })],
    ['a whole form', (schema: AnyType) => dto({ all: fromForm(z.object({ photo: schema as z.ZodType })) })],
  ])('do not hide an error of the application: %s', async (_where, made) => {
    const scanned = z.custom(sent => {
      if (Array.isArray(sent)) throw new Error('The scanner is down.');
      return false;
    });
    const { status, response } = await bind(
      made(scanned),
      { multipart: [['photo', new File(['x'], 'a.png')]] },
      { allowFormData: true },
    );
    expect([status, response.text]).toEqual([500, 'The scanner is down.']);
  });
});

/** Arrays of two words, alone and in an object; the last is asynchronous. */
const words: readonly [library: string, schema: AnyType, whole: AnyType][] = [
  ['zod', z.array(z.enum(['a', 'b'])), z.object({ s: z.array(z.enum(['a', 'b'])) })],
  ['valibot', v.array(v.picklist(['a', 'b'])), v.object({ s: v.array(v.picklist(['a', 'b'])) })],
  ['arktype', type("('a'|'b')[]"), type({ s: "('a'|'b')[]" })],
  [
    'zod, later',
    z.array(z.string().refine(async one => Promise.resolve(one < 'c'))),
    z.object({ s: z.array(z.string().refine(async one => Promise.resolve(one < 'c'))) }),
  ],
];

describe.each(words)('an array of %s that refuses an item', (_library, schema, whole) => {
  class Flat extends dto({ s: queryParam(schema) }) {}
  class Head extends dto({ s: fromHeader(schema) }) {}
  class Path extends dto({ s: routeParam(schema) }) {}
  class Whole extends dto({ all: fromQuery(whole) }) {}
  class Part extends dto({ all: fromQuery(dto({ s: schema })) }) {}

  it.each([
    ['of a comma-separated list', 'a,c', 's[1]'],
    ['of one value', 'c', 's[0]'],
  ])('has its issue there: %s', async (_what, sent, name) => {
    const namesOf = async (Dto: AnyType, how: Sent, options = {}): Promise<string[]> =>
      (await bind(Dto, { method: 'GET', ...how }, options)).errors.map(one => one.name);
    for (const Dto of [Flat, Whole, Part]) expect(await namesOf(Dto, { path: `/?s=${sent}` })).toEqual([name]);
    expect(await namesOf(Head, { headers: { s: sent } })).toEqual([name]);
    expect(await namesOf(Path, { path: `/${sent}` }, { route: '/:s' })).toEqual([name]);
    expect(await namesOf(Path, { path: `/${sent.replace(',', '/')}` }, { route: '/*s' })).toEqual([name]);
  });
});

it.each<[string, AnyType, string, string[]]>([
  ['a list that is too short, too', z.array(z.enum(['a', 'b'])).min(2), 'c', ['s', 's[0]']],
  ['a tuple', z.tuple([z.string(), z.coerce.number()]), 'a,x', ['s[1]']],
  ['text that the schema splits itself', z.preprocess(split, z.array(z.enum(['a', 'b']))), 'a;b,c', ['s[1]']],
  ['an object of zod', z.object({ n: z.string() }), 'a,b', ['s']],
  ['an object of valibot', v.object({ n: v.string() }), 'a,b', ['s']],
  ['a record of valibot', v.record(v.string(), v.number()), 'a,b', ['s']],
  ['an object of arktype', type({ n: 'string' }), 'a,b', ['s']],
  ['a record of arktype', type({ '[string]': 'number' }), 'a,b', ['s']],
  ['a text that is too short', z.string().min(5), 'a,b', ['s']],
])('the issues of text are those of the form that the schema wants: %s', async (_what, schema, sent, names) => {
  for (const Dto of [dto({ s: queryParam(schema) }), dto({ all: fromQuery(dto({ s: schema })) })]) {
    const { errors } = await bind(Dto, { method: 'GET', path: `/?s=${sent}` });
    expect(errors.map(({ name }) => name).sort()).toEqual(names);
  }
});

const vObject = v.object({ status: v.optional(v.string()) });
const vLater = v.objectAsync({ status: v.optional(v.string()) });
const vRecord = v.record(v.string(), v.string());
const arkObject = type({ 'status?': 'string' });
const zObject = z.object({ status: z.string().optional() });
const vTags = v.optional(v.array(v.string()));

/** Objects that need no names, of which some may be arrays; and each in an object of its library. */
const loose: readonly [what: string, schema: AnyType, around: AnyType][] = [
  ['an object of zod', zObject, z.object({ filter: zObject, tags: z.array(z.string()).optional() })],
  ['an object of valibot', vObject, v.object({ filter: vObject, tags: vTags })],
  ['an asynchronous object of valibot', vLater, v.objectAsync({ filter: vLater, tags: vTags })],
  ['a record of valibot', vRecord, v.object({ filter: vRecord, tags: vTags })],
  ['an object of arktype', arkObject, type({ filter: arkObject, 'tags?': 'string[]' })],
];

describe.each(loose)('no array is made up for %s', (_what, schema, around) => {
  class Flat extends dto({ filter: queryParam(schema) }) {}
  class Head extends dto({ filter: fromHeader(schema) }) {}
  class Whole extends dto({ all: fromQuery(dto({ filter: schema })) }) {}
  class Inside extends dto({ all: fromQuery(around) }) {}
  const refused = (name: string) => [400, [name]];
  const read = async (Dto: AnyType, sent: Sent) => {
    const { status, errors } = await bind(Dto, { method: 'GET', ...sent });
    return [status, errors.map(one => one.name)];
  };

  it('of a text', async () => {
    expect(await read(Flat, { path: '/?filter=open' })).toEqual(refused('filter'));
    expect(await read(Head, { headers: { filter: 'a,b' } })).toEqual(refused('filter'));
    expect(await read(Whole, { path: '/?filter=open' })).toEqual(refused('filter'));
    expect(await read(Inside, { path: '/?filter=open&tags=a,b' })).toEqual(refused('filter'));
  });

  it('of a JSON object', async () => {
    expect(await read(Flat, { path: '/?filter={"status":1}' })).toEqual(refused('filter.status'));
    expect(await read(Whole, { path: '/?filter={"status":1}' })).toEqual(refused('filter.status'));
    expect(await read(Inside, { path: '/?filter={"status":1}&tags=a' })).toEqual(refused('filter.status'));
  });

  it('which takes a JSON object', async () => {
    const path = '/?filter={"status":"open"}&tags=a';
    const value = { filter: { status: 'open' } };
    expect((await bind(Flat, { method: 'GET', path })).dto).toEqual(value);
    expect((await bind(Inside, { method: 'GET', path })).dto).toEqual({ all: { ...value, tags: ['a'] } });
  });
});

it('no array is made up of a JSON object that a check refuses', async () => {
  const both = v.object({ min: v.optional(v.number()), max: v.optional(v.number()) });
  const isRange = ({ min = 0, max = 9 }: v.InferOutput<typeof both>): boolean => min <= max;
  const range = v.pipe(both, v.check(isRange, 'not a range'));
  class Flat extends dto({ range: queryParam(range) }) {}
  class Whole extends dto({ all: fromQuery(v.object({ range })) }) {}
  for (const Dto of [Flat, Whole]) {
    const { errors } = await bind(Dto, { method: 'GET', path: '/?range={"min":2,"max":1}' });
    expect(errors).toMatchObject([{ name: 'range', in: 'query', detail: 'not a range' }]);
  }
});

it('a schema that takes an array and an object gets an array that the client sends, and none that is made up', async () => {
  class Tagged extends dto({ tags: queryParam(z.union([z.array(z.string()), z.record(z.string(), z.string())])) }) {}
  const read = async (query: string) => {
    const { dto: bound, errors } = await bind(Tagged, { method: 'GET', path: `/?${query}` });
    return bound?.tags ?? errors.map(({ name }) => name);
  };
  expect(await read('tags=a,b')).toEqual(['tags']);
  for (const query of ['tags[]=a&tags[]=b', 'tags=a&tags=b', 'tags=["a","b"]'])
    expect(await read(query)).toEqual(['a', 'b']);
});

it('no array is made up of a file for an object', async () => {
  const schema = v.object({ status: v.optional(v.string()) });
  const notFile = v.pipe(
    v.any(),
    v.check(sent => !Object.hasOwn(sent as object, 'fieldname')),
    schema,
  );
  class Flat extends dto({ filter: formField(notFile) }) {}
  class Whole extends dto({ all: fromForm(v.object({ filter: notFile })) }) {}
  for (const Dto of [Flat, Whole]) {
    const multipart = [['filter', new File(['x'], 'a.png')]] as const;
    const { errors } = await bind(Dto, { multipart }, { allowFormData: true });
    expect(errors.map(({ name }) => name)).toEqual(['filter']);
  }
});

it('a text and a JSON object for objects of valibot beside an array of one JSON object are refused', async () => {
  const one = v.object({ n: v.optional(v.string()) });
  const whole = v.object({ text: v.optional(one), json: v.optional(one), lines: v.array(v.object({ n: v.string() })) });
  const read = async (query: string) =>
    (await bind(dto({ all: fromQuery(whole) }), { method: 'GET', path: `/?lines={"n":"a"}&${query}` })).errors;
  expect((await read('text=x')).map(({ name }) => name)).toEqual(['text']);
  expect((await read('json={"n":1}')).map(({ name }) => name)).toContain('json.n');
});

it('items of a header are trimmed, as those of a list are', async () => {
  class Tagged extends dto({
    tags: fromHeader(z.array(z.string())),
    all: fromHeader(list(string), { name: 'tags' }),
  }) {}
  const { dto: bound } = await bind(Tagged, { headers: { Tags: 'a ,  b,c d' } });
  expect(bound).toEqual({ tags: ['a', 'b', 'c d'], all: ['a', 'b', 'c d'] });
});

it('items elsewhere keep their blanks', async () => {
  class Tagged extends dto({ tags: queryParam(z.array(z.string())) }) {}
  expect((await bind(Tagged, { path: '/?tags=a,%20b' })).dto).toEqual({ tags: ['a', ' b'] });
});
