import {
  bool,
  dto,
  enumOf,
  field,
  int,
  list,
  nullable,
  optional,
  string,
  type ParseResult,
  fromForm,
  fromHeader,
  fromQuery,
  hasPermission,
  queryParam,
  routeParam,
} from '../../../lib';
import { pairs, type Sent } from '../../support/ask';
import { all, refused, threeWays, type Refusal } from './three-ways';
import { bind, urlEncoded } from '../../support/one-endpoint';

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

/** A book of which nothing was sent but this. */
const book = (part: object = {}): object => ({ chapters: [], tags: [], years: [], ...part });
const chapter = (title: string, part: object = {}): object => ({ title, pages: 10, notes: [], ...part });

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

const noInt = (value: string): string => `The value "${value}" is not a whole number from -2147483648 to 2147483647.`;
const REQUIRED = 'A value is required.';
const TWO = 'There are 2 values where one is expected.';
const NAMELESS = 'The names below do not say which item they belong to. Number the items, starting with [0].';
const noText = (value: string): string => `The value ${JSON.stringify(value)} is not a JSON text.`;
/** The item of which nothing but its title is wrong. */
const badTitle = (place: string, pointer: string): Refusal[] => [
  { name: `${place}.title`, pointer, detail: 'The value 1 is not a string.' },
];

describe('refused under its place:', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a missing value of a nested object', 'author.born=1', { 'author.name': REQUIRED }],
    [
      'items, under the indexes that were sent',
      'chapters[3].pages=x&chapters[8].title=t&chapters[8].pages=y',
      { 'chapters[3].title': REQUIRED, 'chapters[3].pages': noInt('x'), 'chapters[8].pages': noInt('y') },
    ],
    ['an item below another', 'rows[3][4]=x&rows[3][5]=1', { 'rows[3][4]': noInt('x') }],
    ['each item of a list', 'years=x&years=1&years=y', { 'years[0]': noInt('x'), 'years[2]': noInt('y') }],
    ['empty text for an int', 'years=', { years: noInt('') }],
    ['two values for one', 'author.name=n&author.born=1&author.born=2', { 'author.born': TWO }],
    ['text for an object', 'author=x', { author: noText('x') }],
    ['two JSON texts for one object', 'author={"name":"n"}&author={"name":"m"}', { author: TWO }],
    ['JSON that is cut off', 'author={"name":', { author: noText('{"name":') }],
    ['a name that says no item', 'chapters[0].title=a&chapters[].title=b', { chapters: NAMELESS }],
    ['text for an item', 'chapters[4]=x&chapters[5].title=t', { 'chapters[4]': noText('x') }],
  ])('%s: %s', async (_what, text, failures) => {
    const listed = Object.entries(failures).map(([name, detail]) => ({ name, detail }));
    expect(await threeWays(Book, pairs(text))).toEqual(refused(...listed));
  });

  it.each<[string, string, readonly Refusal[]]>([
    ['of another shape', 'author=[]', [{ name: 'author', pointer: '', detail: 'The value […] is not a JSON object.' }]],
    [
      'with two mistakes',
      'author={"born":"1"}',
      [
        { name: 'author.name', pointer: '/name', detail: REQUIRED },
        { name: 'author.born', pointer: '/born', detail: noInt('1') },
      ],
    ],
    ['of a list', 'chapters=[{"title":"t","notes":[]},{"title":1,"notes":[]}]', badTitle('chapters[1]', '/1/title')],
    ['of an item', 'chapters[4]={"title":1,"notes":[]}&chapters[5].title=t', badTitle('chapters[4]', '/title')],
    ['of the only item', 'chapters[4]={"title":1,"notes":[]}', badTitle('chapters[4]', '/title')],
    [
      'of items that are all JSON text',
      'chapters[4]={"title":"t","notes":[]}&chapters[5]={"title":1,"notes":[]}',
      badTitle('chapters[5]', '/title'),
    ],
  ])('JSON text %s: %s', async (_what, text, failures) => {
    expect(await threeWays(Book, pairs(text))).toEqual(refused(...failures));
  });
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
});

class Sort extends dto({ by: string, direction: enumOf(['asc', 'desc']) }) {}
class Range extends dto({ from: int, to: optional(int) }) {}
class Filter extends dto({
  text: field(string, { bindFrom: 'q', required: false }),
  price: optional(Range),
  sort: list(Sort),
  tags: list(string),
}) {}

const filter = (part: object = {}): object => ({ sort: [], tags: [], ...part });
const get = (query: string): Sent => ({ method: 'GET', path: `/${query}` });

describe('beside fromQuery', () => {
  class Beside extends dto({
    filter: fromQuery(Filter),
    id: routeParam(int),
    page: queryParam(int),
    q: optional(string),
    tags: optional(list(string)),
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    may: hasPermission('all', { required: false }),
  }) {}
  const options = { route: '/:id', ...urlEncoded };

  it('flat query parameters bind to other properties all the same', async () => {
    const { dto: bound } = await bind(
      Beside,
      get('7?page=2&q=x&tags=a&tags[1]=b&X-Tenant=q&tenant=acme&all=true&may=true&id=8&price.from=1'),
      options,
    );
    expect(bound).toEqual({
      filter: filter({ text: 'x', tags: ['a', 'b'], price: { from: 1 } }),
      id: 7,
      page: 2,
      q: 'x',
      tags: ['a', 'b'],
      tenant: 'acme',
      may: false,
    });
  });

  it('a form and a query can each have their object, of one class', async () => {
    class Move extends dto({ from: fromQuery(Range), to: fromForm(Range) }) {}
    expect((await bind(Move, { path: '/?from=1&to=2', form: 'FROM=3' }, urlEncoded)).dto).toEqual({
      from: { from: 1, to: 2 },
      to: { from: 3 },
    });
    expect((await bind(Move, { path: '/?to=2', form: 'to=x' }, urlEncoded)).errors).toEqual([
      { name: 'from', in: 'form', detail: 'A value is required.' },
      { name: 'to', in: 'form', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'from', in: 'query', detail: 'A value is required.' },
    ]);
  });
});
