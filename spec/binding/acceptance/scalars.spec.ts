import { bind, outcome, urlEncoded } from '../../support/one-endpoint';
import { bool, dateTime, decimal, double, dto, enumOf, field, formField, fromClaim, fromCookie } from '../../../lib';
import { fromHeader, guid, int, list, long, optional, queryParam, routeParam, string, timeSpan } from '../../../lib';
import { uri, Version, version } from '../../../lib';
import type { AnyType, Claims, ParseResult, Property, Source } from '../../../lib';
import { processorTime } from '../../support/processor-time';
import type { Sent } from '../../support/ask';

enum Level {
  Low,
  High = 5,
  Top = -1,
  Half = 0.5,
}
enum Colour {
  Red = 'R',
  Blue = 'B',
}
const Shape = { Round: 'round', Square: 2 } as const;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const nines = '9'.repeat(4_000);

class Money {
  constructor(readonly cents: number) {}
  static tryParse(text: string | undefined): ParseResult<Money> {
    const isMoney = /^\d+\.\d\d$/.test(text ?? '');
    return isMoney ? { success: true, value: new Money(Math.round(Number(text) * 100)) } : { success: false };
  }
}

/** Values of the enums, texts and numbers as they are; a decimal is compared as text, because its representation is its own. */
const comparable = (value: unknown, type: AnyType): unknown =>
  type === decimal ? String(value) : value instanceof Date ? value.toISOString() : value;

/** A type, how a refusal describes it, and texts: what is read from them, and which are refused. */
const texts: readonly (readonly [AnyType, string, readonly (readonly [string, unknown])[], string])[] = [
  [
    bool,
    'true or false.',
    [...['true', 'TRUE', ' true '].map(text => [text, true] as const), ['False', false]],
    '1|0|yes|no|on|off|t||null|true,false',
  ],
  [
    int,
    'a whole number from -2147483648 to 2147483647.',
    [
      ...['0', '42', '-7', '2147483647', '-2147483648'].map(text => [text, Number(text)] as const),
      ...([['+7', 7], ['007', 7], [' 12 ', 12], ['-0', 0]] as const), // prettier-ignore
    ],
    'x|1.0|1e3|1,000|0x10|2147483648|-2147483649|NaN|1 2|١|',
  ],
  [
    long,
    'a whole number of at most 64 bits.',
    ['9007199254740993', '-9223372036854775808', '9223372036854775807'].map(text => [text, BigInt(text)] as const),
    `1.5|9223372036854775808|-9223372036854775809|1n|${nines}`,
  ],
  [
    double,
    'a number from -1.79e308 to 1.79e308.',
    ['1.5', '-1e3', '.5', '5.', '1E-7'].map(text => [text, Number(text)] as const),
    'Infinity|1e999|NaN|1.2.3|0b1|.',
  ],
  [
    decimal,
    'a decimal number of at most 128 characters, for example 12.50.',
    [
      ...['0.1', '0.1000000000000000055', '-12345678901234567890.123456789'].map(text => [text, text] as const),
      ...['0', '0e-99', '-0.000', '+.0e5', '0e-999', '0E+999'].map(text => [text, '0'] as const),
      ['1e-20', '1e-20'],
      ['+3.50', '3.5'],
    ],
    `1e999999999|1e-400|1e-999999999|-5e-99999999999|.01E-99999999999|0x1|NaN|-Infinity|1/3|${nines}`,
  ],
  [
    dateTime,
    'a date and time, for example 2026-11-24T08:30:00Z.',
    [
      ['2026-11-21', '2026-11-21T00:00:00.000Z'],
      ['2026-11-21T08:30', '2026-11-21T08:30:00.000Z'],
      ['2026-11-21 08:30:15', '2026-11-21T08:30:15.000Z'],
      ['2026-11-21t08:30:15z', '2026-11-21T08:30:15.000Z'],
      ['2026-11-21T08:30:15.5-05:30', '2026-11-21T14:00:15.500Z'],
      ['2026-11-21T08:30+02', '2026-11-21T06:30:00.000Z'],
      ['2026-11-21T08:30:15.25-0530', '2026-11-21T14:00:15.250Z'],
      ['2026-11-21T08:30:15+0000', '2026-11-21T08:30:15.000Z'],
      ['2026-11-21T08:30:15.123456789Z', '2026-11-21T08:30:15.123Z'],
      [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
    ],
    '2026-02-29|2026-02-30|2026-13-01|2026-11-31T00:00|2026-11-21T24:00|2026-11-21T08:60|2026-11-21T08:30+99:99|' +
      '2026-11-21T08:30+2|2026-11-21T08:30+020|2026-11-21T08:30+02:|2026-11-21T08:30+24|2026-11-21+02|21.11.2026|' +
      '11/21/2026|1700000000000|today||2026|2026-11-21T08',
  ],
  [
    timeSpan,
    'a duration, for example 01:30:00 or PT1H30M.',
    [
      ['00:01', 60_000],
      ['1:30:00', 5_400_000],
      ['00:00:01.5', 1_500],
      ['2.03:04:05', 183_845_000],
      ['-00:00:01', -1_000],
      ['9999999.00:00', 9_999_999 * 86_400_000],
      ['00:00:00.0005', 0.5],
      ['PT1H30M', 5_400_000],
      ['P1D', 86_400_000],
      ['P1DT0.25S', 86_400_250],
      [' -PT1S ', -1_000],
      ['pt2m', 120_000],
    ],
    '90|1.5|24:00|00:60|00:00:60|P|PT|P1Y|P1M|1h|00:00:00.|',
  ],
  [
    guid,
    'a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.',
    [ID, ID.toUpperCase(), ID.replaceAll('-', ''), `{${ID}}`, `(${ID})`, ` ${ID} `].map(text => [text, ID] as const),
    `x|${ID.slice(1)}|${ID}0|{${ID}|{${ID})|${ID}}|${ID.replace('0', 'g')}|0f8fad5bd-9cb-469f-a165-70867728950e`,
  ],
  [
    version,
    'a version of two to four numbers, for example 1.2.3.',
    [
      ['1.2', new Version(1, 2)],
      ['1.2.3', new Version(1, 2, 3)],
      ['1.2.3.4', new Version(1, 2, 3, 4)],
      [' 01.0.2147483647 ', new Version(1, 0, 2_147_483_647)],
    ],
    '1|1.2.3.4.5|1.|.1|1.-2|1.2147483648|v1.2|1.2-beta',
  ],
  [
    uri,
    'a URL that begins with http: or https:.',
    ['https://example.org/a?b=c#d', 'http://127.0.0.1:8080/', 'HTTP://example.org'].map(
      text => [text, new URL(text)] as const,
    ),
    'javascript:alert(1)| JavaScript:alert(1)|java\nscript:alert(1)|\u0001javascript:alert(1)|data:text/html,x|' +
      'file:///etc/passwd|blob:https://example.org/x|mailto:a@example.org|urn:isbn:0451450523|ws://example.org|' +
      '/path|example.org|//example.org|http://|http://a b',
  ],
  [
    enumOf(Level),
    'one of Low, High, Top, Half.',
    [['Low', 0], ['hIGH', 5], ['5', 5], ['0', 0], ['-1', -1], [' top ', -1], ['0.5', 0.5]], // prettier-ignore
    '1|5.0|00|0.50|Middle|Low,High|constructor|toString',
  ],
  [enumOf(Colour), 'one of Red, Blue.', [['Red', 'R'], ['BLUE', 'B'], ['B', 'B']], 'r|Green'], // prettier-ignore
  [enumOf(Shape), 'one of Round, Square.', [['round', 'round'], ['SQUARE', 2], ['2', 2]], '3'], // prettier-ignore
  [enumOf(['S', 'M', 'L']), 'one of S, M, L.', [['S', 'S'], ['m', 'M']], 'XL|__proto__'], // prettier-ignore
  [string, '', ['a,b', '', ' a ', '[1]', '\0', 'café', 'null'].map(text => [text, text] as const), ''],
];

const inQuery = (text: string) => ({ method: 'GET', path: `/?v=${encodeURIComponent(text)}` });
const named = texts.map(row => [(row[0] as { name?: string }).name ?? row[1], ...row] as const);

it.each(named)('%s in text', async (_name, type, described, reads, refused) => {
  const Dto = dto({ v: queryParam(type) });
  for (const [text, value] of reads) {
    const { dto: bound } = await bind(Dto, inQuery(text));
    expect([text, comparable(bound?.v, type)]).toEqual([text, value]);
  }
  if (type === string) return;
  for (const text of refused.split('|')) {
    const { status, errors } = await bind(Dto, inQuery(text));
    expect([text, status, errors.length, errors[0]?.name, errors[0]?.in]).toEqual([text, 400, 1, 'v', 'query']);
    expect(errors[0]?.detail).toMatch(/^The value "[^]{0,61}" is not /);
    expect(errors[0]?.detail.endsWith(` is not ${described}`)).toBe(true);
  }
});

/** The other ways to send one text as `v`: the first that is read, and the first that is refused. */
describe.each<[string, Source, (type: AnyType) => Property<unknown>, (text: string) => Sent & { user?: Claims }]>([
  ['an urlencoded form', 'form', type => field(type), v => ({ form: [['v', v]] })],
  ['a multipart form', 'form', type => formField(type), v => ({ multipart: [['v', v]] })],
  ['the route', 'route', type => field(type), v => ({ path: `/${encodeURIComponent(v)}` })],
  ['the route alone', 'route', type => routeParam(type), v => ({ path: `/${encodeURIComponent(v)}` })],
  ['a claim', 'claim', type => fromClaim(type), v => ({ user: { v } })],
  ['a header', 'header', type => fromHeader(type), v => ({ headers: { v } })],
  ['a cookie', 'cookie', type => fromCookie(type), v => ({ headers: { Cookie: `v=${encodeURIComponent(v)}` } })],
])('from %s', (_from, source, property, sent) => {
  const bound = (type: AnyType, text: string) => {
    const { user, ...request } = sent(text);
    return bind(dto({ v: property(type) }), request, { ...urlEncoded, route: '/{:v}', ...(user && { user }) });
  };

  it.each([...named, ['tryParse', Money, 'a Money.', [['12.50', new Money(1250)]], '12'] as const])(
    '%s is read, refused, listed, and missing where it is empty',
    async (_name, type, described, [[text, value] = ['', '']], refused) => {
      const one = (await bound(type, text)).dto as { v: unknown };
      expect(comparable(one.v, type)).toEqual(value);
      if (type === string) return;
      const { v } = (await bound(list(type), `${text},${text}`)).dto as { v: unknown[] };
      expect(v.map(item => comparable(item, type))).toEqual([value, value]);
      // What the client did not send as such is not repeated.
      const [wrong = ''] = refused.split('|');
      const detail = `The value ${/claim|cookie/.test(source) ? '' : `"${wrong}" `}is not ${described}`;
      expect((await bound(type, wrong)).errors).toEqual([{ name: 'v', in: source, detail }]);
      // A route parameter is never empty: such a path is another one.
      if (source === 'route') return;
      expect((await bound(type, '')).errors).toMatchObject([{ name: 'v', in: source }]);
      expect(await bound(optional(type), '')).toMatchObject({ status: 200, dto: {} });
    },
  );
});

/** JSON texts, what is read from them, and which are refused. */
it.each<[string, AnyType, readonly (readonly [string, unknown])[], string]>([
  ['bool', bool, [['true', true], ['false', false]], '"true"|1|0|null|[]|{}'], // prettier-ignore
  ['string', string, [['"text"', 'text'], ['""', '']], '1|true|null|["a"]|{}'], // prettier-ignore
  ['int', int, [['42', 42], ['-0', 0], ['1.0', 1]], '"42"|1.5|true|[]|{}|2147483648'], // prettier-ignore
  ['double', double, [['0.1', 0.1], ['1e300', 1e300], ['3', 3]], '"1.5"|1e999'], // prettier-ignore
  [
    'long',
    long,
    [['9007199254740993', 9007199254740993n], ['"9007199254740993"', 9007199254740993n]], // prettier-ignore
    '1.5|9223372036854775808|false',
  ],
  [
    'decimal',
    decimal,
    [['0.1000000000000000055', '0.1000000000000000055'], ['"0.10"', '0.1'], ['0e-999', '0']], // prettier-ignore
    '1e999999999|1e-400|1e-999999999|-5e-99999999999|"-5e-99999999999"|"x"',
  ],
  ['dateTime', dateTime, [['"2026-11-21"', '2026-11-21T00:00:00.000Z']], '1700000000000|"x"'],
  ['timeSpan', timeSpan, [['"00:01"', 60_000]], '60000'],
  ['guid', guid, [[`"${ID}"`, ID]], '1'],
  ['uri', uri, [['"https://x.example/y"', new URL('https://x.example/y')]], '{}|"javascript:alert(1)"|"data:,"'],
  ['version', version, [['"1.2"', new Version(1, 2)]], '1.2'],
  ['enum', enumOf(Level), [['"low"', 0], ['5', 5]], '1|true|null|[0]'], // prettier-ignore
  ['enum of texts', enumOf(Colour), [['"R"', 'R'], ['"blue"', 'B']], '0|{}'], // prettier-ignore
])('%s in JSON', async (_name, type, reads, refused) => {
  for (const [json, value] of reads) {
    const { dto: bound } = await bind(dto({ v: type }), { json: `{"v":${json}}` });
    expect([json, comparable(bound?.v, type)]).toEqual([json, value]);
  }
  const odd = '{"toString":1}|{"toString":null,"valueOf":null}|{"toJSON":1}|{"constructor":1}|[{"toString":1}]';
  for (const json of `${refused}|${odd}`.split('|')) {
    const { status, errors } = await bind(dto({ v: type }), { json: `{"v":${json}}` });
    expect([json, status, errors]).toMatchObject([json, 400, [{ name: 'v', in: 'json', pointer: '/v' }]]);
  }
});

it('every millisecond of a second is read exactly', async () => {
  const milliseconds = Array.from({ length: 1_000 }, (_, ms) => ms);
  const json = milliseconds.map(ms => `00:00:07.${String(ms).padStart(3, '0')}`);
  expect(await outcome(list(timeSpan), { json })).toEqual(milliseconds.map(ms => 7_000 + ms));
});

it('a failure of an enum names at most ten members', async () => {
  const twelve = enumOf(Array.from({ length: 12 }, (_, index) => `m${index}`));
  expect(await outcome(dto({ v: twelve }), inQuery('x'))).toEqual([
    'query v: The value "x" is not one of m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ….',
  ]);
});

describe('a uri', () => {
  /** Of many different characters: what a host costs grows with their number, too. */
  const long = Array.from({ length: 200_000 }, (_, index) =>
    String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)),
  ).join('');

  // A URL may have white space and control characters before it, and tabs and line breaks anywhere (WHATWG URL, section 4.4).
  it.each(['https://', 'http://user@', '\u0001https://', 'ht\ntps:\t//'])(
    'whose host has 200,000 characters is refused within five seconds of processor time: %j',
    async before => {
      const ms = await processorTime(async () => {
        expect((await bind(dto({ v: uri }), { json: { v: before + long } })).status).toBe(400);
      });
      expect(ms).toBeLessThan(5_000);
    },
  );

  // What a host costs grows with the square of the length of its labels beyond ASCII.
  it.each([
    ['x', 8_000, 200],
    ['x', 8_001, 400],
    ['\u00e9', 1_000, 200],
    ['\u00e9', 1_001, 400],
  ])('of %s, %i characters long, is answered with %i', async (character, length, status) => {
    const v = `https://a.example/${character.repeat(length - 18)}`;
    expect((await bind(dto({ v: uri }), { json: { v } })).status).toBe(status);
  });
});
