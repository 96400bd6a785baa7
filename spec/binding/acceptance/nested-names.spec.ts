import { bool, dto, enumOf, field, fromForm, fromHeader, fromQuery, guid, hasPermission, int } from '../../../lib';
import { list, nullable, oneOf, optional, queryParam, record, routeParam, string } from '../../../lib';
import type { AnyType, ParseResult } from '../../../lib';
import { outcome } from '../../support/one-endpoint';
import { below, threeWays } from './three-ways';

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
const [t, u] = [chapter('t'), chapter('u')];

it.each<[string, string, object]>([
  ['the root has no prefix', 'title=x&book.title=y&book[title]=z', { title: 'x' }],
  ['any case', 'TITLE=x&Author.NAME=n&CHAPTERS[0].Title=t', { title: 'x', author: { name: 'n' }, chapters: [t] }],
  ['a name in brackets alone', '[title]=x', {}],
  ['names below one value', 'title.x=y&title[]=y&title[0]=y&author.name=n&author.name.x=y', { author: { name: 'n' } }],
  ['an object that nothing was sent for', 'authors=x&author_name=y&author[x]=1&author.isbn=2', {}],
  ['unknown names', 'isbn=1&chapters[0].title=t&chapters[0].isbn=3&isbn[0].x=4', { chapters: [t] }],
  ['what is no path', 'author..born=1&author[born=2&author]born=3&.title=4&tags[x]=5&tags.x=6&tags[-1]=7', {}],
  ['what is no index', 'tags[1.5]=8&tags[ 1]=9&tags[1e0]=1&tags[٣]=2', {}],
  ['of several values none is split', 'tags=a,b&tags=c', { tags: ['a,b', 'c'] }],
  ['an index fixes the order', 'years[2]=3&years[10]=11&years[0]=1&years[00]=0', { years: [1, 0, 3, 11] }],
  ['what has no index is next', 'years[0]=3&years=1&years[]=2', { years: [3, 1, 2] }],
  ['in the order sent', 'tags[]=1&TAGS=2&tags[]=3&tags=4', { tags: ['1', '2', '3', '4'] }],
  ['the only item', 'rows[0]=1,2', { rows: [[1, 2]] }],
  ['items repeated', 'rows[1]=3&rows[0]=1&rows[0]=2', { rows: [[1, 2], [3]] }],
  ['items and others', 'rows[0][]=1&rows[]=2', { rows: [[1], [2]] }],
  ['others and items', 'rows[]=2&rows[1][]=1', { rows: [[2], [1]] }],
  [
    'empty text',
    'title=&author.name=&chapters[0].title=&tags=',
    { title: '', author: { name: '' }, chapters: [chapter('')], tags: [''] },
  ],
  ['empty text is nothing for another type', 'author.name=n&author.born=&seen=', { author: { name: 'n' } }],
  ['empty text is no object', 'author=', {}],
  ['empty text is no item', 'seen[]=', {}],
  ['empty text is no indexed item', 'seen[0]=', {}],
  ['JSON with commas between', 'chapters={"title":"t","notes":[]},{"title":"u","notes":[]}', { chapters: [t, u] }],
  ['names below win over JSON', 'author={"name":"n","born":1}&author.name=m', { author: { name: 'm' } }],
])('%s: %s', async (_fact, text, value) => {
  expect(await threeWays(Book, text)).toEqual(book(value));
});

const noInt = (value: string): string => `The value ${value} is not a whole number from -2147483648 to 2147483647.`;
const REQUIRED = 'A value is required.';
const TWO = 'There are 2 values where one is expected.';
const UNNUMBERED = 'The names below do not say of which item they are. Number the items from [0] on.';
const noJson = (text: string): string => `The value ${JSON.stringify(text)} is not a JSON text.`;

it.each<[string, readonly string[]]>([
  ['author.born=1', [`author.name: ${REQUIRED}`]],
  ['chapters[3].pages=x&chapters[8].title=t', [`chapters[3].title: ${REQUIRED}`, `chapters[3].pages: ${noInt('"x"')}`]],
  ['rows[3][4]=x&rows[3][5]=1', [`rows[3][4]: ${noInt('"x"')}`]],
  ['rows[4]=1,x', [`rows[4][1]: ${noInt('"x"')}`]],
  ['years=x&years=1&years=y', [`years[0]: ${noInt('"x"')}`, `years[2]: ${noInt('"y"')}`]],
  ['years[5]=x&years[0]=1', [`years[5]: ${noInt('"x"')}`]],
  ['years[3]=x&years=1&years[]=y', [`years[3]: ${noInt('"x"')}`, `years[5]: ${noInt('"y"')}`]],
  ['years[]=x', [`years: ${noInt('"x"')}`]],
  ['years=1,x', [`years[1]: ${noInt('"x"')}`]],
  ['years=[1,"2"]', [`years[1]: ${noInt('"2"')}`]],
  ['years=', [`years: ${noInt('""')}`]],
  ['author.name=n&author.born=1&author.born=2', [`author.born: ${TWO}`]],
  ['author=x', [`author: ${noJson('x')}`]],
  ['author={"name":"n"}&author={"name":"m"}', [`author: ${TWO}`]],
  ['author={"name":', [`author: ${noJson('{"name":')}`]],
  ['author=[]', ['author: The value […] is not a JSON object.']],
  ['author={"born":"1"}', [`author.name: ${REQUIRED}`, `author.born: ${noInt('"1"')}`]],
  ['chapters.title=a', [`chapters: ${UNNUMBERED}`]],
  ['chapters[].title=a&chapters[].title=b', [`chapters: ${UNNUMBERED}`]],
  ['chapters[0].title=a&chapters.title=b', [`chapters: ${UNNUMBERED}`]],
  ['chapters[4]=x&chapters[5].title=t', [`chapters[4]: ${noJson('x')}`]],
  ['chapters=[{"title":"t","notes":[]},{"title":1,"notes":[]}]', ['chapters[1].title: The value 1 is not a string.']],
  ['chapters[4]={"title":1,"notes":[]}', ['chapters[4].title: The value 1 is not a string.']],
  ['chapters={"title":"t","notes":[]},x', [`chapters: ${noJson('{"title":"t","notes":[]},x')}`]],
  ['tags[10000]=x', ['tags: The index 10000 is too high; 10000 items are allowed.']],
  ['tags[4294967294]=x', ['tags: The index 4294967294 is too high; 10000 items are allowed.']],
])('refused under its place: %s', async (text, expected) => {
  expect(await threeWays(Book, text)).toEqual(expected);
});

class Money {
  constructor(readonly cents: number) {}
  static tryParse(text: string | undefined): ParseResult<Money> {
    return /^\d+$/.test(text ?? '') ? { success: true, value: new Money(Number(text)) } : { success: false };
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
  @field(Money, { required: false, jsonPropertyName: 'amount' }) price?: Money | undefined;
  @field(optional(enumOf(Size))) size: Size | undefined;
  @field(nullable(int), { required: false }) weight?: number | null | undefined;
  @field(int, { dontBind: ['form', 'query'], required: false }) internal?: number | undefined;
}
class Order extends dto({ line: optional(Line), lines: list(Line) }) {}

it.each<[string, object]>([
  ['line.Article-No=a&line.sku=b', {}],
  ['line[article-no]=a&line.quantity=2&line.gift=true&line.marks=x', { quantity: 2, gift: true, marks: ['x'] }],
  ['line.article-no=a&line.quantity=&line.gift=', {}],
  ['line.article-no=a&line.size=LARGE', { size: 2 }],
  ['line={"sku":"a","weight":null}', { weight: null }],
  ['line.article-no=a&line.weight=5', { weight: 5 }],
  ['line={"sku":"a","amount":"150"}', { price: new Money(150) }],
  ['line.article-no=a&line.price=150&line.amount=200', { price: new Money(150) }],
  ['line.article-no=a&line.internal=7', {}],
])('the options of a nested property hold: %s', async (text, part) => {
  const value = { sku: 'a', quantity: 1, marks: ['new'], gift: false, ...part };
  expect(await threeWays(Order, text)).toEqual({ line: value, lines: [] });
  expect(await threeWays(Order, text.replaceAll(/\bline\b/g, 'lines[0]'))).toEqual({ lines: [value] });
});

describe('names below a property that does not take the whole source', () => {
  class Point extends dto({ x: int, y: optional(int) }) {}
  class Box extends dto({ city: string, at: optional(Point), floors: optional(list(int)) }) {}
  const Either = oneOf('kind', { box: Box, point: Point });

  it.each<[AnyType, string, unknown]>([
    [optional(Box), 'v[city]=Oslo', { city: 'Oslo' }],
    [optional(Box), 'V.City=Oslo', { city: 'Oslo' }],
    [Box, 'v[city]=Oslo&v[at][x]=1&v[floors][]=1&v[floors][]=2', { city: 'Oslo', at: { x: 1 }, floors: [1, 2] }],
    [Box, 'v[city]=Oslo&v[at]={"x":1}', { city: 'Oslo', at: { x: 1 } }],
    [list(Point), 'v[0][x]=1&v[1][x]=2', [{ x: 1 }, { x: 2 }]],
    [record(int), 'v[ann@x.com]=1&v[a.b]=2', { 'ann@x.com': 1, 'a.b': 2 }],
    [Either, 'v[kind]=point&v[x]=1', { kind: 'point', x: 1 }],
    [string, 'v=a&v[b]=c', 'a'],
    [optional(Box), 'v[town]=Oslo', undefined],
    [Box, 'v[town]=Oslo', [`v: ${REQUIRED}`]],
    [list(int), 'v[a]=1', [`v: ${REQUIRED}`]],
    [optional(Box), 'v[at][x]=1', [`v.city: ${REQUIRED}`]],
    [optional(bool), 'v[]=true&v[0]=true', undefined],
    [int, 'v=1&v=2', [`v: ${TWO}`]],
    [string, 'v=a&v=b,c', 'a,b,c'],
    [list(string), 'v=a,', ['a,']],
    [list(string), 'v=,a', [',a']],
    [list(string), 'v=a,,b', ['a,,b']],
    [list(string), 'v=a, b', ['a', ' b']],
    [list(string), 'v[]=Oslo, Norway', ['Oslo, Norway']],
    [list(string), 'v[3]=a,b', ['a,b']],
    [list(string), 'v[]=["a","b"]', ['["a","b"]']],
    [list(int), 'v[0]=1,2', [`v[0]: ${noInt('"1,2"')}`]],
    [list(Point), 'v[]={"x":1}', [{ x: 1 }]],
    [list(Point), 'v[0]={"x":1},{"x":2}', [`v[0]: ${noJson('{"x":1},{"x":2}')}`]],
    [list(string), 'v=[WIP] fix', ['[WIP] fix']],
    [list(string), 'v=[WIP] fix,[dev] team', ['[WIP] fix', '[dev] team']],
    [list(enumOf(['[a]', 'b'])), 'v=[a]', ['[a]']],
    [list(int), 'v=[1,2', [expect.stringContaining('v')]],
    [list(guid), 'v=[x', [expect.stringContaining('v')]],
    [list(Point), 'v=[x] y', [`v: ${noJson('[x] y')}`]],
    [list(record(int)), 'v=x,y', [`v: ${noJson('x,y')}`]],
    [list(Either), 'v=x,y', [`v: ${noJson('x,y')}`]],
    [optional(nullable(Point)), 'v=null', null],
    [list(nullable(Point)), 'v={"x":1}&v= null\n', [{ x: 1 }, null]],
  ])('%#: %s', async (type, text, expected) => {
    expect(await below(type, text)).toEqual(expected);
  });
});

describe('beside fromQuery', () => {
  class Filter extends dto({
    text: field(string, { bindFrom: 'q', required: false }),
    price: optional(Author),
    tags: list(string),
  }) {}
  class Beside extends dto({
    filter: fromQuery(Filter),
    id: routeParam(int),
    page: queryParam(int),
    q: optional(string),
    tags: optional(list(string)),
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    may: hasPermission('all', { required: false }),
  }) {}

  it('flat query parameters bind to other properties all the same', async () => {
    const path = '/7?page=2&q=x&tags=a&tags[1]=b&X-Tenant=q&tenant=acme&all=true&may=true&id=8&price.name=n';
    const filter = { text: 'x', tags: ['a', 'b'], price: { name: 'n' } };
    const flat = { id: 7, page: 2, q: 'x', tags: ['a', 'b'], tenant: 'acme', may: false };
    expect(await outcome(Beside, { method: 'GET', path }, { route: '/:id' })).toEqual({ filter, ...flat });
  });

  it('a form and a query can each have their object, of one class', async () => {
    class Range extends dto({ from: int, to: optional(int) }) {}
    class Move extends dto({ from: fromQuery(Range), to: fromForm(Range) }) {}
    expect(await outcome(Move, { path: '/?from=1&to=2', form: 'FROM=3' })).toEqual({
      from: { from: 1, to: 2 },
      to: { from: 3 },
    });
    expect(await outcome(Move, { path: '/?to=2', form: 'to=x' })).toEqual([
      `form from: ${REQUIRED}`,
      `form to: ${noInt('"x"')}`,
      `query from: ${REQUIRED}`,
    ]);
  });
});
