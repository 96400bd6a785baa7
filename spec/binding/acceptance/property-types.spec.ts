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
import type { Sent } from '../../support/ask';
import { bind, urlEncoded, type EndpointOptions, type Outcome } from '../../support/one-endpoint';

type Sending = Sent & Pick<EndpointOptions, 'user'>;

const common = (type: AnyType): Property<unknown> => field(type);
const inRoute = (text: string): Sending => ({ path: `/${encodeURIComponent(text)}` });
const inQuery = (text: string): Sending => ({ path: `/?v=${encodeURIComponent(text)}` });
const inCookie = (text: string): Sending => ({ headers: { Cookie: `v=${encodeURIComponent(text)}` } });

/** The ways to send one text as `v`. */
const ways: [
  name: string,
  source: Source,
  property: (type: AnyType) => Property<unknown>,
  (text: string) => Sending,
][] = [
  ['an urlencoded form', 'form', common, text => ({ form: [['v', text]] })],
  ['a multipart form', 'form', type => formField(type), text => ({ multipart: [['v', text]] })],
  ['the route', 'route', common, inRoute],
  ['the route alone', 'route', type => routeParam(type), inRoute],
  ['the query', 'query', common, inQuery],
  ['the query alone', 'query', type => queryParam(type), inQuery],
  ['a claim', 'claim', type => fromClaim(type), text => ({ user: { v: text } })],
  ['a header', 'header', type => fromHeader(type), text => ({ headers: { v: text } })],
  ['a cookie', 'cookie', type => fromCookie(type), inCookie],
];

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

/** A type, a text and its value, and a text that is refused; the specs of the types have the words of the refusal. */
const rows: [name: string, type: AnyType, text: string, value: unknown, refused: string][] = [
  ['bool', bool, 'True', true, '1'],
  ['bool, false', bool, 'false', false, 'no'],
  ['double', double, '-2.5e3', -2500, '1.5x'],
  ['decimal', decimal, '0.1000000000000000055', '0.1000000000000000055', '1.0.0'],
  ['int', int, '-42', -42, '2147483648'],
  ['long', long, '9007199254740993', 9007199254740993n, '9223372036854775808'],
  ['DateTime', dateTime, '2026-11-21T10:30:00+01:00', new Date('2026-11-21T09:30:00Z'), '2026-02-30'],
  ['TimeSpan', timeSpan, '1.02:03:04.5', 93_784_500, '25:00'],
  ['Guid', guid, '0F8FAD5BD9CB469FA16570867728950E', '0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b'],
  ['Uri', uri, 'https://shop.example/a?b=c', new URL('https://shop.example/a?b=c'), '/a'],
  ['Version', version, '1.2.3', new Version(1, 2, 3), '1'],
  ['Enum, by name', enumOf(Status), 'cLOSED', Status.Closed, 'lost'],
  ['Enum, by value', enumOf(Status), '1', Status.Open, '3'],
  ['Enum of texts', enumOf(Colour), 'green', Colour.Green, 'Blue'],
  ['a type with tryParse', Money, '12.50', new Money(1250), '12'],
  ['a type with tryParse whose values are no objects', even, '4', 4, '3'],
];

/** A decimal is compared as text, because its representation is its own. */
const comparable = (value: unknown, type: AnyType): unknown => (type === decimal ? String(value) : value);

describe.each(ways)('from %s', (_name, source, property, sent) => {
  const bound = (type: AnyType, text: string): Promise<Outcome<{ v: unknown }>> => {
    const { user, ...request } = sent(text);
    return bind(dto({ v: property(type) }), request, { ...urlEncoded, route: '/{:v}', ...(user && { user }) });
  };
  /** What the client did not send as such is not repeated. */
  const quoted = (text: string): string =>
    /claim|cookie/.test(source) ? 'The value is not' : `The value "${text}" is not`;

  it.each(rows)('%s', async (_type, type, text, value, refused) => {
    const { status, dto: read } = await bound(type, text);
    expect([status, comparable(read?.v, type)]).toEqual([200, value]);
    const detail = expect.stringContaining(quoted(refused)) as string;
    expect(await bound(type, refused)).toMatchObject({ status: 400, errors: [{ name: 'v', in: source, detail }] });
  });

  it.each(rows)('a list of %s', async (_type, type, text, value) => {
    const { v } = (await bound(list(type), `${text},${text}`)).dto as { v: unknown[] };
    expect(v.map(item => comparable(item, type))).toEqual([value, value]);
  });

  it('string', async () => {
    expect((await bound(string, 'a, "b" [c]')).dto).toEqual({ v: 'a, "b" [c]' });
  });

  // A route parameter is never empty: such a path is another one.
  if (source === 'route') return;

  it.each(rows)('empty text is no %s, and counts as missing where the value may be missing', async (_type, type) => {
    expect((await bound(type, '')).errors).toMatchObject([{ name: 'v', in: source }]);
    expect(await bound(optional(type), '')).toMatchObject({ status: 200, dto: {} });
  });

  it('empty text is a string', async () => {
    expect((await bound(string, '')).dto).toEqual({ v: '' });
  });
});
