import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { z } from 'zod';
import {
  bindRequest,
  bool,
  decimal,
  double,
  dto,
  dateTime,
  enumOf,
  field,
  file,
  fromBody,
  fromClaim,
  fromForm,
  fromHeader,
  guid,
  hasPermission,
  idempotency,
  int,
  lazy,
  list,
  long,
  nullable,
  optional,
  queryParam,
  routeParam,
  string,
  timeSpan,
  uri,
  version,
  type ParseResult,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { all, refused, threeWays, type Names, type Refusal } from './three-ways';

class Author extends dto({ name: string, born: optional(int) }) {}
class Chapter extends dto({ title: string, pages: field(int, { default: 10 }), notes: list(string) }) {}
class Book extends dto({
  title: optional(string),
  author: optional(Author),
  chapters: list(Chapter),
  tags: list(string),
  years: list(int),
  rows: optional(list(list(int))),
  seen: optional(list(int)),
}) {}
class Beside extends dto({
  book: fromForm(Book),
  id: routeParam(int),
  page: queryParam(int),
  tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
  title: optional(string),
  may: hasPermission('books:write', { required: false }),
}) {}

/** A book of which nothing was sent but this. */
const book = (part: object = {}): object => ({ chapters: [], tags: [], years: [], ...part });
const chapter = (title: string, part: object = {}): object => ({ title, pages: 10, notes: [], ...part });
const pairs = (text: string): Names =>
  text
    .split('&')
    .filter(Boolean)
    .map(part => {
      const [name = '', value = ''] = part.split(/=(.*)/s);
      return [name, value];
    });

describe.each(expressVersions)('%s', (_name, framework) => {
  it('an urlencoded form, a multipart form and a query are read alike', async () => {
    const sent = pairs(
      'title=x&author.name=n&author[born]=1900&chapters[1].title=two&chapters[0][title]=one&chapters[1].notes=a&chapters[1].notes=b&tags=s&years[1]=2&years[0]=1',
    );
    const chapters = [chapter('one'), chapter('two', { notes: ['a', 'b'] })];
    expect(await threeWays(Book, sent, { framework })).toEqual(
      all(book({ title: 'x', author: { name: 'n', born: 1900 }, chapters, tags: ['s'], years: [1, 2] })),
    );
  });

  it('failures of a form and of all other sources are in one answer', async () => {
    const { status, errors } = await bind(
      Beside,
      {
        path: '/x?page=y',
        form: [
          ['author.born', 'z'],
          ['chapters[3].title', 't'],
          ['chapters[3].pages', '1.5'],
          ['years', '1,w'],
        ],
      },
      { framework, route: '/:id', ...urlEncoded },
    );
    expect([status, errors]).toEqual([
      400,
      [
        { name: 'author.name', in: 'form', detail: 'A value is required.' },
        {
          name: 'author.born',
          in: 'form',
          detail: 'The value "z" is not a whole number from -2147483648 to 2147483647.',
        },
        {
          name: 'chapters[3].pages',
          in: 'form',
          detail: 'The value "1.5" is not a whole number from -2147483648 to 2147483647.',
        },
        { name: 'years[1]', in: 'form', detail: 'The value "w" is not a whole number from -2147483648 to 2147483647.' },
        { name: 'id', in: 'route', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
        { name: 'page', in: 'query', detail: 'The value "y" is not a whole number from -2147483648 to 2147483647.' },
      ],
    ]);
  });
});

it.each<[string, string, object]>([
  ['the root has no prefix', 'title=x', { title: 'x' }],
  ['a prefix of the root is a name that nobody declared', 'book.title=x&book[title]=y&Book.author.name=z', {}],
  [
    'names are in any case',
    'TITLE=x&Author.NAME=n&CHAPTERS[0].Title=t',
    { title: 'x', author: { name: 'n' }, chapters: [chapter('t')] },
  ],
  [
    'brackets are as good as dots',
    'author[name]=n&chapters[0][title]=t&chapters.1.title=u',
    { author: { name: 'n' }, chapters: [chapter('t'), chapter('u')] },
  ],
  ['dots and brackets can be mixed', 'author.name=n&Author[Born]=1', { author: { name: 'n', born: 1 } }],
  ['a name in brackets alone is another name', '[title]=x', {}],
  [
    'a name of one value has nothing below',
    'title.x=y&title[]=y&title[0]=y&author.name=n&author.name.x=y',
    { author: { name: 'n' } },
  ],
  ['a nested object that nothing was sent for is missing', 'authors=x&author_name=y', {}],
  ['a nested object of which no name of its own was sent is missing', 'author[x]=1&author.isbn=2', {}],
  [
    'unknown names are ignored',
    'isbn=1&author.name=n&author.isbn=2&chapters[0].title=t&chapters[0].isbn=3&isbn[0].x=4',
    { author: { name: 'n' }, chapters: [chapter('t')] },
  ],
  [
    'names that are no path are names of nobody',
    'author.name=n&author..born=1&author[born=2&author]born=3&.title=4&tags[x]=5&tags.x=6&tags[-1]=7&tags[1.5]=8&tags[ 1]=9',
    { author: { name: 'n' } },
  ],
  ['repeated names are items', 'tags=a&tags=b&years=2&years=1', { tags: ['a', 'b'], years: [2, 1] }],
  ['repeated names in different cases are, too', 'Tags=a&TAGS=b', { tags: ['a', 'b'] }],
  ['names with empty brackets are, too', 'tags[]=a&tags[]=b', { tags: ['a', 'b'] }],
  ['one comma-separated value is several items', 'tags=a,b&years=1,2', { tags: ['a', 'b'], years: [1, 2] }],
  ['of several values none is split', 'tags=a,b&tags=c', { tags: ['a,b', 'c'] }],
  ['an index fixes the order, whatever order was sent', 'years[2]=3&years[10]=11&years[0]=1', { years: [1, 3, 11] }],
  [
    'gaps are closed up',
    'tags[9]=b&tags[4]=a&chapters[7].title=y&chapters[5].title=x',
    { tags: ['a', 'b'], chapters: [chapter('x'), chapter('y')] },
  ],
  ['what has no index is next', 'years[0]=3&years=1&years[]=2', { years: [3, 1, 2] }],
  [
    'the names of one item need not stand together',
    'chapters[1].title=b&chapters[0].title=a&chapters[1].notes=n&chapters[0].pages=1',
    { chapters: [chapter('a', { pages: 1 }), chapter('b', { notes: ['n'] })] },
  ],
  [
    'collections stand in items',
    'chapters[0].title=t&chapters[0].notes[1]=b&chapters[0].notes[0]=a',
    { chapters: [chapter('t', { notes: ['a', 'b'] })] },
  ],
  ['collections stand in collections', 'rows[1][0]=3&rows[0][1]=2&rows[0][0]=1', { rows: [[1, 2], [3]] }],
  [
    'an item of a collection can be comma-separated itself',
    'rows[1]=3,4&rows[0]=1,2',
    {
      rows: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  ['and when it is the only one', 'rows[0]=1,2', { rows: [[1, 2]] }],
  [
    'repeated names are items of the collection that they name',
    'rows[1]=3&rows[0]=1&rows[0]=2',
    { rows: [[1, 2], [3]] },
  ],
  [
    'empty text is the empty string',
    'title=&author.name=&chapters[0].title=&tags=',
    { title: '', author: { name: '' }, chapters: [chapter('')], tags: [''] },
  ],
  [
    'empty text for another type that may be missing is nothing',
    'author.name=n&author.born=&seen=',
    { author: { name: 'n' } },
  ],
  ['empty text for an object that may be missing is nothing', 'author=', {}],
  ['empty text as the one item of a list that may be missing is nothing', 'seen[]=', {}],
  ['empty text as the one item, indexed, of a list that may be missing is nothing', 'seen[0]=', {}],
  ['JSON text is an object', 'author={"name":"n","born":1}', { author: { name: 'n', born: 1 } }],
  [
    'JSON text is a list of objects',
    'chapters=[{"title":"t","notes":[]},{"title":"u","notes":["a"],"pages":1}]',
    { chapters: [chapter('t'), chapter('u', { notes: ['a'], pages: 1 })] },
  ],
  [
    'JSON objects with commas between are a list',
    'chapters={"title":"t","notes":[]},{"title":"u","notes":[]}',
    { chapters: [chapter('t'), chapter('u')] },
  ],
  [
    'JSON text is an item',
    'chapters[1].title=u&chapters[0]={"title":"t","notes":[]}',
    { chapters: [chapter('t'), chapter('u')] },
  ],
  [
    'repeated JSON text is items',
    'chapters={"title":"t","notes":[]}&chapters={"title":"u","notes":[]}',
    { chapters: [chapter('t'), chapter('u')] },
  ],
  [
    'JSON text is a list of scalars',
    'years=[1,2]&tags=["a,b"]&rows=[[1],[2,3]]',
    { years: [1, 2], tags: ['a,b'], rows: [[1], [2, 3]] },
  ],
  ['names below win over JSON text', 'author={"name":"n","born":1}&author.name=m', { author: { name: 'm' } }],
])('%s: %s', async (_fact, text, value) => {
  expect(await threeWays(Book, pairs(text))).toEqual(all(book(value)));
});

it.each<[string, string, readonly Refusal[]]>([
  ['a missing value of a nested object', 'author.born=1', [{ name: 'author.name', detail: 'A value is required.' }]],
  [
    'an item, under the index that was sent',
    'chapters[3].pages=x&chapters[8].title=t&chapters[8].pages=y',
    [
      { name: 'chapters[3].title', detail: 'A value is required.' },
      { name: 'chapters[3].pages', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'chapters[8].pages', detail: 'The value "y" is not a whole number from -2147483648 to 2147483647.' },
    ],
  ],
  [
    'an item below another',
    'rows[3][4]=x&rows[3][5]=1',
    [{ name: 'rows[3][4]', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' }],
  ],
  [
    'each item of a list',
    'years=x&years=1&years=y',
    [
      { name: 'years[0]', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'years[2]', detail: 'The value "y" is not a whole number from -2147483648 to 2147483647.' },
    ],
  ],
  [
    'empty text for an int',
    'years=',
    [{ name: 'years', detail: 'The value "" is not a whole number from -2147483648 to 2147483647.' }],
  ],
  [
    'two values for one',
    'author.name=n&author.born=1&author.born=2',
    [{ name: 'author.born', detail: 'There are 2 values where one is expected.' }],
  ],
  ['text for an object', 'author=x', [{ name: 'author', detail: 'The value "x" is not a JSON text.' }]],
  [
    'two JSON texts for one object',
    'author={"name":"n"}&author={"name":"m"}',
    [{ name: 'author', detail: 'There are 2 values where one is expected.' }],
  ],
  [
    'JSON of another shape',
    'author=[]',
    [{ name: 'author', pointer: '', detail: 'The value […] is not a JSON object.' }],
  ],
  [
    'JSON that is cut off',
    'author={"name":',
    [{ name: 'author', detail: 'The value "{\\"name\\":" is not a JSON text.' }],
  ],
  [
    'a value in JSON text',
    'author={"born":"1"}',
    [
      { name: 'author.name', pointer: '/name', detail: 'A value is required.' },
      {
        name: 'author.born',
        pointer: '/born',
        detail: 'The value "1" is not a whole number from -2147483648 to 2147483647.',
      },
    ],
  ],
  [
    'a value in JSON text of a list',
    'chapters=[{"title":"t","notes":[]},{"title":1,"notes":[]}]',
    [{ name: 'chapters[1].title', pointer: '/1/title', detail: 'The value 1 is not a string.' }],
  ],
  [
    'a value in JSON text of an item',
    'chapters[4]={"title":1,"notes":[]}&chapters[5].title=t',
    [{ name: 'chapters[4].title', pointer: '/title', detail: 'The value 1 is not a string.' }],
  ],
  [
    'a value in JSON text of the only item',
    'chapters[4]={"title":1,"notes":[]}',
    [{ name: 'chapters[4].title', pointer: '/title', detail: 'The value 1 is not a string.' }],
  ],
  [
    'a value in JSON text of items that are all JSON text',
    'chapters[4]={"title":"t","notes":[]}&chapters[5]={"title":1,"notes":[]}',
    [{ name: 'chapters[5].title', pointer: '/title', detail: 'The value 1 is not a string.' }],
  ],
  [
    'text for an item',
    'chapters[4]=x&chapters[5].title=t',
    [{ name: 'chapters[4]', detail: 'The value "x" is not a JSON text.' }],
  ],
])('refused under its place: %s: %s', async (_what, text, failures) => {
  expect(await threeWays(Book, pairs(text))).toEqual(refused(...failures));
});

describe('required nested values', () => {
  class Letter extends dto({ to: Author, lines: list(string), copies: list(Author) }) {}

  it.each<[string, string, readonly Refusal[]]>([
    [
      'an object that nothing was sent for is missing, a collection is empty',
      '',
      [{ name: 'to', detail: 'A value is required.' }],
    ],
    ['empty text is no object', 'to=', [{ name: 'to', detail: 'The value "" is not a JSON text.' }]],
    [
      'empty text is no list of objects',
      'to.name=n&copies=',
      [{ name: 'copies', detail: 'The value "" is not a JSON text.' }],
    ],
    [
      'in JSON text a collection must be there',
      'to.name=n&copies={}',
      [{ name: 'copies[0].name', pointer: '/0/name', detail: 'A value is required.' }],
    ],
  ])('%s: %s', async (_fact, text, failures) => {
    expect(await threeWays(Letter, pairs(text))).toEqual(refused(...failures));
  });
});

it('objects are instances of their classes, each its own', async () => {
  const { urlencoded } = await threeWays(Book, pairs('author={"name":"n"}&chapters[0].title=t&chapters[1].title=u'));
  const { author, chapters } = urlencoded as Book;
  expect([urlencoded, author, ...chapters].map(one => one?.constructor)).toEqual([Book, Author, Chapter, Chapter]);
  expect(chapters[0]?.notes).not.toBe(chapters[1]?.notes);
});

describe('the options of a nested dto', () => {
  class Money {
    constructor(readonly cents: number) {}
    static tryParse(text: string | undefined): ParseResult<Money> {
      const match = /^(\d+)\.(\d\d)$/.exec(text ?? '');
      return match
        ? { success: true, value: new Money(Number(match[1]) * 100 + Number(match[2])) }
        : { success: false };
    }
  }
  enum Size {
    Small = 1,
    Large = 2,
  }
  class Line {
    @field(string, { bindFrom: 'article-no' }) sku!: string;
    @field(int, { default: 1 }) quantity!: number;
    @field(list(string), { default: ['new'] }) marks!: string[];
    @field(bool) gift = false;
    @field(Money, { required: false, jsonPropertyName: 'amount' }) unitPrice?: Money | undefined;
    @field(optional(enumOf(Size))) size: Size | undefined;
    @field(optional(list(enumOf(['red', 'green'])))) colours: ('red' | 'green')[] | undefined;
    @field(nullable(int), { required: false }) weight?: number | null | undefined;
    @field(int, { dontBind: ['form', 'query'], required: false }) internal?: number | undefined;
  }
  class Order extends dto({ line: optional(Line), lines: list(Line) }) {}
  const line = (sku: string, part: object = {}): object => ({ sku, quantity: 1, marks: ['new'], gift: false, ...part });

  it.each<[string, string, object]>([
    ['bindFrom replaces the name', 'line.Article-No=a&line.sku=b', line('a')],
    [
      'defaults and initialisers stand in for what was not sent',
      'line[article-no]=a&line.quantity=2&line.gift=true&line.marks=x',
      line('a', { quantity: 2, gift: true, marks: ['x'] }),
    ],
    ['empty text leaves a default', 'line.article-no=a&line.quantity=&line.gift=', line('a')],
    [
      'enum members in any case, or values',
      'line.article-no=a&line.size=LARGE&line.colours[1]=red&line.colours[0]=Green',
      line('a', { size: 2, colours: ['green', 'red'] }),
    ],
    ['nullable is null in JSON text only', 'line={"sku":"a","weight":null}', line('a', { weight: null })],
    ['nullable is a value like any other by name', 'line.article-no=a&line.weight=5', line('a', { weight: 5 })],
    ['the JSON name is for JSON text', 'line={"sku":"a","amount":"1.50"}', line('a', { unitPrice: new Money(150) })],
    [
      'the name of the property is for names',
      'line.article-no=a&line.unitPrice=1.50&line.amount=2.00',
      line('a', { unitPrice: new Money(150) }),
    ],
    ['a source that is blocked does not bind', 'line.article-no=a&line.internal=7', line('a')],
  ])('%s: %s', async (_fact, text, value) => {
    expect(await threeWays(Order, pairs(text))).toEqual(all({ line: value, lines: [] }));
    expect(await threeWays(Order, pairs(text.replaceAll(/\bline\b/g, 'lines[0]')))).toEqual(all({ lines: [value] }));
  });

  it.each<[string, readonly Refusal[]]>([
    ['lines[2].sku=a', [{ name: 'lines[2].article-no', detail: 'A value is required.' }]],
    [
      'lines[2].article-no=a&lines[2].size=3&lines[2].weight=null&lines[2].unitPrice=1',
      [
        { name: 'lines[2].unitPrice', detail: 'The value "1" is not a Money.' },
        { name: 'lines[2].size', detail: 'The value "3" is not one of Small, Large.' },
        { name: 'lines[2].weight', detail: 'The value "null" is not a whole number from -2147483648 to 2147483647.' },
      ],
    ],
  ])('failures have the name that was looked for: %s', async (text, failures) => {
    expect(await threeWays(Order, pairs(text))).toEqual(refused(...failures));
  });

  it('a naming policy is for JSON text, not for names', async () => {
    expect(
      await threeWays(Order, pairs('line.article-no=a&line.unitPrice=1.50&lines={"sku":"b","gift":true}'), {
        propertyNamingPolicy: 'PascalCase',
      }),
    ).toEqual(refused({ name: 'lines[0].Sku', pointer: '/0/Sku', detail: 'A value is required.' }));
    expect(
      await threeWays(Order, pairs('line.article-no=a&line.unitPrice=1.50&lines={"Sku":"b","gift":true}'), {
        propertyNamingPolicy: 'PascalCase',
      }),
    ).toEqual(all({ line: line('a', { unitPrice: new Money(150) }), lines: [line('b')] }));
  });

  it('defaults are fresh for each item', async () => {
    const { urlencoded } = await threeWays(Order, pairs('lines[0].article-no=a&lines[1].article-no=b'));
    const [first, second] = (urlencoded as Order).lines;
    expect(first?.marks).not.toBe(second?.marks);
  });

  it('all types of value are read below a name', async () => {
    class All extends dto({
      b: bool,
      d: double,
      m: decimal,
      i: int,
      l: long,
      s: string,
      at: dateTime,
      t: timeSpan,
      g: guid,
      u: uri,
      v: version,
    }) {}
    class Outer extends dto({ one: All }) {}
    const text =
      'one.b=TRUE&one.d=1e3&one.m=0.1000000000000000055&one.i=-1&one.l=9007199254740993&one.s=a,b&one.at=2026-11-21T10:00:00Z&one.t=01:30:00&one.g=0F8FAD5BD9CB469FA16570867728950E&one.u=https://x.example/a&one.v=1.2';
    for (const read of Object.values(await threeWays(Outer, pairs(text)))) {
      const { one } = read as Outer;
      expect([
        one.b,
        one.d,
        one.m.toFixed(),
        one.i,
        one.l,
        one.s,
        one.at.toISOString(),
        one.t,
        one.g,
        one.u.href,
        String(one.v),
      ]).toEqual([
        true,
        1000,
        '0.1000000000000000055',
        -1,
        9_007_199_254_740_993n,
        'a,b',
        '2026-11-21T10:00:00.000Z',
        5_400_000,
        '0f8fad5b-d9cb-469f-a165-70867728950e',
        'https://x.example/a',
        '1.2',
      ]);
    }
  });
});

describe('a type that refers to itself', () => {
  interface Tree {
    name: string | undefined;
    child: Tree | undefined;
    children: Tree[];
  }
  class Node extends dto({
    name: optional(string),
    child: optional(lazy((): new () => Tree => Node)),
    children: list(lazy((): new () => Tree => Node)),
  }) {}

  it.each<[string, object]>([
    ['', { children: [] }],
    [
      'name=r&child.name=c&child.child.name=cc',
      { name: 'r', children: [], child: { name: 'c', children: [], child: { name: 'cc', children: [] } } },
    ],
    [
      'children[1].name=b&children[0].children[0].name=aa',
      { children: [{ children: [{ name: 'aa', children: [] }] }, { name: 'b', children: [] }] },
    ],
    [
      'child={"name":"c","children":[{"children":[]}]}',
      { children: [], child: { name: 'c', children: [{ children: [] }] } },
    ],
    ['child[x]=', { children: [] }],
  ])('ends where the names end: %p', async (text, tree) => {
    const { urlencoded, multipart, query } = await threeWays(Node, pairs(text));
    expect({ urlencoded, multipart, query }).toEqual(all(tree));
  });
});

it.each([
  'author.__proto__',
  'author.__proto__.polluted',
  'author[__proto__][polluted]',
  'author[constructor][prototype][polluted]',
  '__proto__.polluted',
  'constructor.prototype.polluted',
  '__proto__',
  'chapters.__proto__',
  'chapters[__proto__].polluted',
  'tags[__proto__]',
  'tags[length]',
  'author.toString',
])('names that JavaScript objects know change nothing: %s', async name => {
  const read = await threeWays(Book, [
    [name, 'yes'],
    ['author.name', 'n'],
    ['tags', 'a'],
  ]);
  expect(read).toStrictEqual(
    all(
      Object.assign(new Book(), {
        author: Object.assign(new Author(), { name: 'n' }),
        chapters: [],
        tags: ['a'],
        years: [],
      }),
    ),
  );
  expect(['polluted' in {}, 'polluted' in Book.prototype, 'polluted' in Author.prototype, 'polluted' in []]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

describe('a form with nothing in it', () => {
  class Maybe extends dto({ book: fromForm(optional(Book)), page: queryParam(int, { default: 1 }) }) {}
  const nothing: [string, Sent][] = [
    ['no body', {}],
    ['an empty urlencoded form', { form: '' }],
    ['an empty multipart form', { multipart: [] }],
    ['a GET', { method: 'GET' }],
  ];

  it.each(nothing)('the object is made all the same: %s', async (_what, sent) => {
    class Needed extends dto({ book: fromForm(Book) }) {}
    const { dto: bound } = await bind(Needed, sent, urlEncoded);
    expect([bound, bound?.book.constructor]).toEqual([{ book: book() }, Book]);
  });

  it.each(nothing)('but not where it may be missing: %s', async (_what, sent) => {
    expect((await bind(Maybe, sent, urlEncoded)).dto).toEqual({ page: 1 });
  });

  it('an optional object is made of the values that were sent', async () => {
    expect((await bind(Maybe, { form: [['title', 'x']] }, urlEncoded)).dto).toEqual({
      page: 1,
      book: book({ title: 'x' }),
    });
    expect((await bind(Maybe, { form: [['author.born', '1']] }, urlEncoded)).errors).toEqual([
      { name: 'author.name', in: 'form', detail: 'A value is required.' },
    ]);
  });

  it('its required properties are asked for', async () => {
    class Needed extends dto({ author: fromForm(Author) }) {}
    for (const [, sent] of nothing)
      expect((await bind(Needed, sent, urlEncoded)).errors).toEqual([
        { name: 'name', in: 'form', detail: 'A value is required.' },
      ]);
  });

  it('a Standard Schema of an object gets an object, too', async () => {
    expect(await threeWays(z.object({ title: z.string().optional() }), [])).toEqual(all({}));
  });
});

describe('beside fromForm', () => {
  const sent = { path: '/7?page=2', headers: { 'X-Tenant': 'acme' } };

  it('flat form fields bind to no other property', async () => {
    const form = [
      ['title', 'x'],
      ['id', '8'],
      ['page', '3'],
      ['X-Tenant', 'evil'],
      ['tenant', 'evil'],
      ['may', 'true'],
      ['books:write', 'true'],
    ] as const;
    for (const one of [{ form }, { multipart: form }]) {
      expect((await bind(Beside, { ...sent, ...one }, { route: '/:id', ...urlEncoded })).dto).toEqual({
        book: book({ title: 'x' }),
        id: 7,
        page: 2,
        tenant: 'acme',
        may: false,
      });
      expect((await bind(Beside, { path: '/7?page=2', ...one }, { route: '/:id', ...urlEncoded })).dto).toEqual({
        book: book({ title: 'x' }),
        id: 7,
        page: 2,
        may: false,
      });
    }
  });

  it('all other sources bind as without fromForm', async () => {
    const { dto: bound } = await bind(
      Beside,
      { ...sent, path: '/7?page=2&title=q&author.name=q', form: [['title', 'x']] },
      { route: '/:id', user: { permissions: ['books:write'] }, ...urlEncoded },
    );
    expect(bound).toEqual({ book: book({ title: 'x' }), id: 7, page: 2, tenant: 'acme', title: 'q', may: true });
  });

  it('a JSON body binds to the others, and not to it', async () => {
    const { dto: bound } = await bind(
      Beside,
      { ...sent, json: { title: 'j', author: { name: 'j' }, book: { title: 'k' } } },
      { route: '/:id', ...urlEncoded },
    );
    expect(bound).toEqual({ book: book(), id: 7, page: 2, tenant: 'acme', title: 'j', may: false });
  });

  it('a JSON body and a form can each have their property', async () => {
    class Either extends dto({
      json: fromBody(optional(Author)),
      form: fromForm(optional(Author)),
      sub: fromClaim(optional(string)),
    }) {}
    expect((await bind(Either, { json: { name: 'j', sub: 'x' } }, urlEncoded)).dto).toEqual({ json: { name: 'j' } });
    expect(
      (
        await bind(
          Either,
          {
            form: [
              ['name', 'f'],
              ['sub', 'x'],
            ],
          },
          { user: { sub: 'u' }, ...urlEncoded },
        )
      ).dto,
    ).toEqual({ form: { name: 'f' }, sub: 'u' });
  });
});

it.each<[string, Sent, object, number]>([
  ['an urlencoded form where no form is allowed', { form: [['title', 'x']] }, {}, 415],
  ['a multipart form where none is allowed', { multipart: [['title', 'x']] }, {}, 415],
  ['an urlencoded form where multipart is', { form: [['title', 'x']] }, { allowFormData: true }, 415],
  ['JSON where nothing takes it', { json: { title: 'x' } }, urlEncoded, 415],
])('%s is refused', async (_what, sent, options, expected) => {
  class Needed extends dto({ book: fromForm(optional(Book)) }) {}
  expect((await bind(Needed, sent, options)).status).toBe(expected);
});

describe('a form that was parsed before', () => {
  class Needed extends dto({ book: fromForm(optional(Book)) }) {}
  type Kind = 'form' | 'multipart';
  const parsers: [string, RequestHandler, Kind][] = [
    ['express.urlencoded({ extended: true })', express.urlencoded({ extended: true }), 'form'],
    ['express.urlencoded({ extended: false })', express.urlencoded({ extended: false }), 'form'],
    ['express.text()', express.text({ type: () => true }), 'form'],
    ['express.raw()', express.raw({ type: () => true }), 'form'],
    ['multer().none()', multer().none(), 'multipart'],
    ['multer().any()', multer().any(), 'multipart'],
  ];
  const after = async (parser: RequestHandler, kind: Kind, form: Names): Promise<unknown> => {
    const { dto: bound, errors } = await bind(Needed, kind === 'form' ? { form } : { multipart: form }, {
      before: [parser],
      ...urlEncoded,
    });
    return bound?.book ?? errors.map(({ name }) => name);
  };
  const many = Array.from({ length: 25 }, (_, index) => index);

  it.each(parsers)('by %s: brackets, dots of an object and repeated names are bound', async (_parser, parser, kind) => {
    const sent = pairs(
      'TITLE=x&author[name]=n&author.born=1&chapters[1][title]=b&chapters[0][title]=a&chapters[1][notes][]=i&chapters[1][notes][]=j&tags=s&Tags=t&years[1]=2&years[0]=1',
    );
    expect(await after(parser, kind, sent)).toEqual(
      book({
        title: 'x',
        author: { name: 'n', born: 1 },
        chapters: [chapter('a'), chapter('b', { notes: ['i', 'j'] })],
        tags: ['s', 't'],
        years: [1, 2],
      }),
    );
  });

  it.each(parsers)('by %s: collections in a collection are bound', async (_parser, parser, kind) => {
    expect(await after(parser, kind, pairs('rows[0][0]=1&rows[0][1]=2&rows[1][0]=3'))).toEqual(
      book({ rows: [[1, 2], [3]] }),
    );
  });

  it.each(parsers)('by %s: 25 items are a list', async (_parser, parser, kind) => {
    expect(
      await after(parser, kind, [
        ...many.map(index => [`chapters[${index}][title]`, `${index}`] as const),
        ...many.map(index => [`years[${index}]`, `${index}`] as const),
      ]),
    ).toEqual(book({ chapters: many.map(index => chapter(`${index}`)), years: many }));
  });

  it.each(parsers.filter(([name]) => !name.includes('extended: true')))(
    'by %s: dots after an index are bound',
    async (_parser, parser, kind) => {
      expect(await after(parser, kind, pairs('chapters[1].title=b&chapters[0].title=a&chapters[1].pages=5'))).toEqual(
        book({ chapters: [chapter('a'), chapter('b', { pages: 5 })] }),
      );
    },
  );

  it('qs, behind express.urlencoded({ extended: true }), cuts off what follows an index with a dot: that is refused, not bound wrongly', async () => {
    expect(
      await after(express.urlencoded({ extended: true }), 'form', pairs('chapters[0].title=a&chapters[1].title=b')),
    ).toEqual(['chapters[0]', 'chapters[1]']);
  });
});

it.each([
  'chapters[].title=a',
  'chapters.title=a',
  'chapters[title]=a',
  'chapters[-1].title=a',
  'chapters[x].title=a',
  'chapters[0].title=a&chapters[].title=b',
])('%s: an item that does not say which one it is, is refused and not dropped', async form => {
  class Needed extends dto({ book: fromForm(class extends dto({ chapters: list(Chapter) }) {}) }) {}
  expect((await bind(Needed, { form }, urlEncoded)).errors).toMatchObject([
    {
      name: 'chapters',
      in: 'form',
      detail: 'The names below do not say which item they belong to. Number the items, starting with [0].',
    },
  ]);
});

it('JSON in a field of a form cannot bring files: a collection of them is empty, as for any form that sends none', async () => {
  class Pictured extends dto({ title: string, pictures: list(file), cover: optional(file) }) {}
  class Needed extends dto({ book: fromForm(class extends dto({ chapters: list(Pictured) }) {}) }) {}
  expect((await bind(Needed, { form: [['chapters', '[{"title":"x"}]']] }, urlEncoded)).dto).toEqual({
    book: { chapters: [{ title: 'x', pictures: [] }] },
  });
});

describe('behind idempotency()', () => {
  class Needed extends dto({ book: fromForm(optional(Book)) }) {}
  const shop = () => {
    const seen: unknown[] = [];
    const app = express().post('/', idempotency({ store: new Keyv() }), bindRequest(Needed, urlEncoded), (req, res) => {
      res.json(seen.push(req.dto.book));
    });
    const post = async (sent: Sent): Promise<string> => {
      const { status, text } = await ask(app, { ...sent, key: 'k' });
      return status === 200 ? text : String(status);
    };
    return { post, seen };
  };

  it.each<[string, (names: Names) => Sent]>([
    ['an urlencoded form', form => ({ form })],
    ['a multipart form', multipart => ({ multipart })],
  ])('%s is bound as without it, and a retry is a replay', async (_kind, sentAs) => {
    const { post, seen } = shop();
    const sent = sentAs(pairs('author.name=n&chapters[1].title=b&chapters[0].title=a'));
    const answers = [
      await post(sentAs(pairs('author.born=1'))),
      await post(sent),
      await post(sent),
      await post(sentAs(pairs('author.name=n&chapters[0].title=b&chapters[1].title=a'))),
    ];
    expect(answers).toEqual(['400', '1', '1', '2']);
    expect(seen).toEqual([
      book({ author: { name: 'n' }, chapters: [chapter('a'), chapter('b')] }),
      book({ author: { name: 'n' }, chapters: [chapter('b'), chapter('a')] }),
    ]);
  });
});
