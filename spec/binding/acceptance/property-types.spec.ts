import {
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  field,
  formField,
  fromClaim,
  fromCookie,
  fromHeader,
  guid,
  int,
  list,
  long,
  optional,
  queryParam,
  routeParam,
  string,
  timeSpan,
  uri,
  version,
  Version,
  type AnyType,
  type ParseResult,
  type Property,
  type Source,
} from '../../../lib';
import { type Sent } from '../../support/ask';
import { bind, type EndpointOptions, type Outcome } from '../../support/one-endpoint';

/** Sends one text in one source, as `v`. */
interface Way {
  readonly name: string;
  readonly source: Source;
  readonly property: (type: AnyType) => Property<unknown>;
  readonly sent: (text: string) => Sent & Pick<EndpointOptions, 'user'>;
}

const anywhere = (type: AnyType): Property<unknown> => field(type);
const ways: readonly Way[] = [
  { name: 'an urlencoded form', source: 'form', property: anywhere, sent: text => ({ form: [['v', text]] }) },
  {
    name: 'a multipart form',
    source: 'form',
    property: type => formField(type),
    sent: text => ({ multipart: [['v', text]] }),
  },
  { name: 'the route', source: 'route', property: anywhere, sent: text => ({ path: `/${encodeURIComponent(text)}` }) },
  {
    name: 'the route alone',
    source: 'route',
    property: type => routeParam(type),
    sent: text => ({ path: `/${encodeURIComponent(text)}` }),
  },
  {
    name: 'the query',
    source: 'query',
    property: anywhere,
    sent: text => ({ path: `/?v=${encodeURIComponent(text)}` }),
  },
  {
    name: 'the query alone',
    source: 'query',
    property: type => queryParam(type),
    sent: text => ({ path: `/?v=${encodeURIComponent(text)}` }),
  },
  { name: 'a claim', source: 'claim', property: type => fromClaim(type), sent: text => ({ user: { v: text } }) },
  { name: 'a header', source: 'header', property: type => fromHeader(type), sent: text => ({ headers: { v: text } }) },
  {
    name: 'a cookie',
    source: 'cookie',
    property: type => fromCookie(type),
    sent: text => ({ headers: { Cookie: `v=${encodeURIComponent(text)}` } }),
  },
];

function bindText(
  { property, sent }: Way,
  type: AnyType,
  text: string,
  options: EndpointOptions = {},
): Promise<Outcome<{ v: unknown }>> {
  class Request extends dto({ v: property(type) }) {}
  const { user, ...request } = sent(text);
  return bind(Request, request, {
    allowFormData: { urlEncoded: true },
    route: '/{:v}',
    ...(user && { user }),
    ...options,
  });
}

enum Status {
  Open = 1,
  Closed = 2,
}
enum Colour {
  Red = '#f00',
  Green = '#0f0',
}

/** A class that reads itself by `tryParse`. */
class Money {
  constructor(readonly cents: number) {}

  static tryParse(text: string | undefined): ParseResult<Money> {
    return /^\d+\.\d\d$/.test(text ?? '')
      ? { success: true, value: new Money(Math.round(Number(text) * 100)) }
      : { success: false };
  }
}

/** Its value is not an object. */
const even = {
  name: 'Even',
  tryParse: (text: string | undefined): ParseResult<number> =>
    /[02468]$/.test(text ?? '') ? { success: true, value: Number(text) } : { success: false },
};

/** A type: a text and its value, and a text that is refused for not being `expected`. */
interface Row {
  readonly name: string;
  readonly type: AnyType;
  readonly text: string;
  readonly value: unknown;
  readonly refused: string;
  readonly expected: string;
}

const rows: readonly Row[] = [
  { name: 'bool', type: bool, text: 'True', value: true, refused: '1', expected: 'true or false' },
  { name: 'bool, false', type: bool, text: 'false', value: false, refused: 'no', expected: 'true or false' },
  {
    name: 'double',
    type: double,
    text: '-2.5e3',
    value: -2500,
    refused: '1.5x',
    expected: 'a number from -1.79e308 to 1.79e308',
  },
  {
    name: 'decimal',
    type: decimal,
    text: '0.1000000000000000055',
    value: '0.1000000000000000055',
    refused: '1.0.0',
    expected: 'a decimal number of at most 128 characters, for example 12.50',
  },
  {
    name: 'int',
    type: int,
    text: '-42',
    value: -42,
    refused: '2147483648',
    expected: 'a whole number from -2147483648 to 2147483647',
  },
  {
    name: 'long',
    type: long,
    text: '9007199254740993',
    value: 9007199254740993n,
    refused: '9223372036854775808',
    expected: 'a whole number of at most 64 bits',
  },
  {
    name: 'DateTime',
    type: dateTime,
    text: '2026-11-21T10:30:00+01:00',
    value: new Date('2026-11-21T09:30:00Z'),
    refused: '2026-02-30',
    expected: 'a date and time, for example 2026-11-24T08:30:00Z',
  },
  {
    name: 'TimeSpan',
    type: timeSpan,
    text: '1.02:03:04.5',
    value: 93_784_500,
    refused: '25:00',
    expected: 'a duration, for example 01:30:00 or PT1H30M',
  },
  {
    name: 'Guid',
    type: guid,
    text: '0F8FAD5BD9CB469FA16570867728950E',
    value: '0f8fad5b-d9cb-469f-a165-70867728950e',
    refused: '0f8fad5b',
    expected: 'a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  },
  {
    name: 'Uri',
    type: uri,
    text: 'https://shop.example/a?b=c',
    value: new URL('https://shop.example/a?b=c'),
    refused: '/a',
    expected: 'a URL that begins with http: or https:',
  },
  {
    name: 'Version',
    type: version,
    text: '1.2.3',
    value: new Version(1, 2, 3),
    refused: '1',
    expected: 'a version of two to four numbers, for example 1.2.3',
  },
  {
    name: 'Enum, by name',
    type: enumOf(Status),
    text: 'cLOSED',
    value: Status.Closed,
    refused: 'lost',
    expected: 'one of Open, Closed',
  },
  {
    name: 'Enum, by value',
    type: enumOf(Status),
    text: '1',
    value: Status.Open,
    refused: '3',
    expected: 'one of Open, Closed',
  },
  {
    name: 'Enum of texts',
    type: enumOf(Colour),
    text: 'green',
    value: Colour.Green,
    refused: 'Blue',
    expected: 'one of Red, Green',
  },
  {
    name: 'a type with tryParse',
    type: Money,
    text: '12.50',
    value: new Money(1250),
    refused: '12',
    expected: 'a Money',
  },
  {
    name: 'a type with tryParse whose values are no objects',
    type: even,
    text: '4',
    value: 4,
    refused: '3',
    expected: 'an Even',
  },
];

/** A decimal is compared as text, because its representation is its own. */
const comparable = (value: unknown, type: AnyType): unknown => (type === decimal ? String(value) : value);

/** What the client did not send as such, a claim or a cookie, is not repeated. */
const quoting = (source: string, text: string): string =>
  source === 'claim' || source === 'cookie' ? 'The value' : `The value "${text}"`;

describe.each(ways)('from $name', way => {
  it.each(rows)('$name', async ({ type, text, value, refused, expected }) => {
    const { status, dto: bound } = await bindText(way, type, text);
    expect([status, comparable(bound?.v, type)]).toEqual([200, value]);
    const refusal = await bindText(way, type, refused);
    expect([refusal.status, refusal.errors]).toEqual([
      400,
      [{ name: 'v', in: way.source, detail: `${quoting(way.source, refused)} is not ${expected}.` }],
    ]);
  });

  it('string', async () => {
    expect((await bindText(way, string, 'a, "b" [c]')).dto).toEqual({ v: 'a, "b" [c]' });
  });

  it.each(rows)('a list of $name', async ({ type, text, value }) => {
    const { dto: bound } = await bindText(way, list(type), `${text},${text}`);
    expect((bound?.v as unknown[] | undefined)?.map(item => comparable(item, type))).toEqual([value, value]);
  });
});

// A route parameter is never empty: such a path is another one.
describe.each(ways.filter(({ source }) => source !== 'route'))('empty text from $name', way => {
  it.each(rows)('is not a valid $name, and counts as missing where the value may be missing', async ({ type }) => {
    expect((await bindText(way, type, '')).errors).toMatchObject([{ name: 'v', in: way.source }]);
    expect(await bindText(way, optional(type), '')).toMatchObject({ status: 200, dto: {} });
  });

  it('is a string', async () => {
    expect((await bindText(way, string, '')).dto).toEqual({ v: '' });
  });
});
