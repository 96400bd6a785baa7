import fc, { type Arbitrary } from 'fast-check';
import type { Sent } from '../../support/ask';

/** Names that mean something to JavaScript, to a parser or to a library. */
export const HOSTILE = [
  ...'__proto__ constructor prototype toString valueOf hasOwnProperty toJSON then length push __defineGetter__'.split(
    ' ',
  ),
  ...'0 1 -1 4294967295 * % %00 [ ] . polluted isLosslessNumber value ~standard'.split(' '),
  ...['', ' '],
];
const latin1 = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter(code => code !== 0x7f)
    .map(code => String.fromCharCode(code)),
  maxLength: 12,
});
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), latin1);

/** Names like `a[b].c`, of parts that are declared, hostile or made up, put together well and badly. */
function namesOf(declared: readonly string[]): Arbitrary<string> {
  const part = fc.oneof(
    { arbitrary: fc.constantFrom(...declared), weight: 3 },
    { arbitrary: fc.constantFrom(...HOSTILE), weight: 2 },
    fc.nat(12).map(String),
    anyText,
  );
  const below = fc
    .tuple(part, fc.constantFrom('.*', '[*]', '[*]', '[*', '*]', '..*', '][*', '.[*]', '[[*]]', '[]', ''))
    .map(([name, style]) => style.replace('*', () => name));
  return fc.oneof(
    { arbitrary: fc.constantFrom(...declared), weight: 2 },
    fc.tuple(part, fc.array(below, { maxLength: 4 })).map(([name, rest]) => name + rest.join('')),
  );
}

const scalarTexts = fc.constantFrom(
  ...'true FALSE 0 -0 1 42 1e3 1e400 -1E-400 9007199254740993 99999999999999999999 1.50 0x1 NaN null undefined'.split(
    ' ',
  ),
  ...'2026-11-21 2026-02-30T25:61 +010000-01-01T00:00:00Z 00:01 -9999999.23:59:59.9999999 PT P1D'.split(' '),
  ...'0f8fad5b-d9cb-469f-a165-70867728950e {0f8fad5b http://a http://[ data:, 1.2 1.2.3.4.5 red a,b'.split(' '),
  ...', ,, [ { [1 [] {} {},{} {}, [[[]]] {"__proto__":{"polluted":1}} [{"__proto__":[]}] " \\u0000'.split(' '),
  ...['', '\ufeff{}'],
);

/** JSON text, well-formed or nearly. @param likely fields that get far. */
function jsonTexts(declared: readonly string[], likely: readonly string[]): Arbitrary<string> {
  const keys = fc
    .oneof(
      { arbitrary: fc.constantFrom(...declared), weight: 4 },
      { arbitrary: fc.constantFrom(...HOSTILE), weight: 2 },
      anyText,
    )
    .map(key => JSON.stringify(key));
  const scalars = fc.oneof(
    { arbitrary: fc.oneof(scalarTexts, anyText).map(text => JSON.stringify(text)), weight: 4 },
    {
      arbitrary: fc.constantFrom(
        ...'null true false 0 -0 1 1.0 1e2 1E400 -1e-400 9007199254740993 1.000000000000000000000001'.split(' '),
        ...'"\\ud800" [] {} {"toString":1,"valueOf":{}} {"then":1} {"__proto__":{"polluted":1}}'.split(' '),
        '{"constructor":{"prototype":{"polluted":1}}}',
      ),
      weight: 8,
    },
    { arbitrary: fc.constantFrom('', '01', '+1', 'NaN', '"\u0001"', '"\\x"', '\ufeff1'), weight: 1 },
  );
  return fc.letrec<{ document: string; value: string; object: string }>(tie => ({
    document: fc.oneof(
      { arbitrary: tie('object'), weight: 6 },
      fc.array(tie('object'), { maxLength: 3 }).map(items => `[${items.join(',')}]`),
      tie('value'),
    ),
    value: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'json' },
      scalars,
      fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'json' }).map(items => `[${items.join(',')}]`),
      tie('object'),
    ),
    object: fc
      .array(
        fc.oneof(
          { arbitrary: fc.constantFrom(...likely), weight: 4 },
          fc.tuple(keys, tie('value')).map(field => field.join(':')),
        ),
        { maxLength: 6, depthIdentifier: 'json' },
      )
      .map(fields => `{${fields.join(',')}}`),
  })).document;
}

type Pairs = readonly (readonly [name: string, value: string])[];

/** Half of a surrogate pair becomes U+FFFD: encodeURIComponent refuses it. */
const lossyEncode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
const urlEncoded = (pairs: Pairs): string =>
  pairs.map(([name, value]) => `${lossyEncode(name)}=${lossyEncode(value)}`).join('&');
const rawPairs = (pairs: Pairs): string => pairs.map(([name, value]) => `${name}=${value}`).join('&');

const BOUNDARY = 'x';

/** Multipart forms, their parts headed as clients do, and as they should not. */
function multiparts(pairs: Arbitrary<Pairs>): Arbitrary<string> {
  const heads = fc.constantFrom(
    ...Array.from({ length: 3 }, () => 'form-data; name="*"'),
    ...['form-data; name=*', 'form-data; name="*', 'form-data', 'attachment; name="*"', 'form-data; filename="a"'],
    ...['; filename="*"', '; filename=""', '; name="b"', "; filename*=x''%ff"].map(
      more => `form-data; name="*"${more}`,
    ),
    "form-data; name*=utf-8''*",
  );
  const types = fc.constantFrom(
    ...['', '', '', '\r\n__proto__: x', '\r\n: x', '\r\nX', `\r\nX: ${'y'.repeat(100)}`],
    ...[
      'application/json',
      'text/plain; charset=utf-16',
      'text/plain; charset=nope',
      'multipart/mixed; boundary=x',
    ].map(type => `\r\nContent-Type: ${type}`),
    '\r\nContent-Transfer-Encoding: base64',
  );
  const ends = fc.constantFrom(
    ...Array.from({ length: 3 }, () => `--${BOUNDARY}--\r\n`),
    ...['--', '\r\n', '', `--\r\n--${BOUNDARY}\r\n`].map(end => `--${BOUNDARY}${end}`),
    ...['', '\r\n'],
  );
  const ways = fc.array(fc.tuple(heads, types), { minLength: 5, maxLength: 5 });
  return fc.tuple(pairs, ways, ends).map(
    ([all, how, end]) =>
      all
        .map(([name, value], index) => {
          const [head, type] = how[index % 5] ?? ['', ''];
          return `--${BOUNDARY}\r\nContent-Disposition: ${head.replaceAll('*', () => name)}${type}\r\n\r\n${value}\r\n`;
        })
        .join('') + end,
  );
}

/** Bytes with some of them cut out, doubled or replaced. */
function damaged(bodies: Arbitrary<Buffer>): Arbitrary<Buffer> {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(8),
    kind: fc.constantFrom('cut', 'double', 'replace', 'end'),
    bytes: fc.uint8Array({ maxLength: 4 }),
  });
  return fc.tuple(bodies, fc.array(damage, { maxLength: 3 })).map(([body, damages]) =>
    damages.reduce((bytes, { at, length, kind, bytes: others }) => {
      const from = Math.floor(at * bytes.length);
      const [head, middle, tail] = [
        bytes.subarray(0, from),
        bytes.subarray(from, from + length),
        bytes.subarray(from + length),
      ];
      switch (kind) {
        case 'cut':
          return Buffer.concat([head, tail]);
        case 'double':
          return Buffer.concat([head, middle, middle, tail]);
        case 'replace':
          return Buffer.concat([head, others, tail]);
        case 'end':
          return head;
      }
    }, body),
  );
}

const form = 'application/x-www-form-urlencoded';
const TYPES = {
  json: [
    ...['application/json', 'application/json', 'application/json', 'application/vnd.x+json'],
    ...['APPLICATION/JSON ; charset="UTF-8"', 'application/json; charset=utf-16', 'application/json;;__proto__=x'],
  ],
  form: [form, form, `${form}; charset=iso-8859-1`],
  multipart: [
    ...[
      `; boundary=${BOUNDARY}`,
      `; boundary="${BOUNDARY}"`,
      '',
      '; boundary=',
      `; boundary=${BOUNDARY}; boundary=y`,
    ].map(more => `multipart/form-data${more}`),
    'multipart/mixed; boundary=x',
  ],
  text: ['text/plain', 'text/plain; charset=latin1', 'application/octet-stream', 'application', '/', ';'],
} as const;

interface Declared {
  readonly endpoints: readonly string[];
  /** Names of properties, at any level. */
  readonly names: readonly string[];
  /** Names and values that get far: most fit, some are known attacks. */
  readonly likelyPairs: Pairs;
  /** The same in JSON. */
  readonly likelyFields: readonly string[];
  readonly headers: readonly string[];
  readonly cookies: readonly string[];
}

/** Requests of which nothing is well-formed for sure, but what HTTP itself demands. */
export function hostileRequests({
  endpoints,
  names,
  likelyPairs,
  likelyFields,
  headers,
  cookies,
}: Declared): Arbitrary<Sent> {
  const json = jsonTexts(names, likelyFields);
  const values = fc.oneof(scalarTexts, scalarTexts, json, anyText);
  const pairs = fc.array(
    fc.oneof({ arbitrary: fc.constantFrom(...likelyPairs), weight: 3 }, fc.tuple(namesOf(names), values)),
    { maxLength: 6 },
  );
  const bodies = fc
    .oneof(
      {
        arbitrary: fc.record({ kind: fc.constant('json' as const), body: json.map(text => Buffer.from(text)) }),
        weight: 3,
      },
      fc.record({
        kind: fc.constant('form' as const),
        body: fc.tuple(pairs, fc.constantFrom(urlEncoded, rawPairs)).map(([all, encode]) => Buffer.from(encode(all))),
      }),
      fc.record({ kind: fc.constant('multipart' as const), body: multiparts(pairs).map(text => Buffer.from(text)) }),
      fc.record({
        kind: fc.constantFrom(...(['json', 'form', 'multipart', 'text'] as const)),
        body: fc.uint8Array({ maxLength: 64 }).map(bytes => Buffer.from(bytes)),
      }),
    )
    .chain(({ kind, body }) =>
      fc.record({
        body: fc.oneof({ arbitrary: fc.constant(body), weight: 3 }, damaged(fc.constant(body))),
        type: fc.oneof(
          { arbitrary: fc.constantFrom(...TYPES[kind]), weight: 12 },
          fc.constantFrom(...Object.values(TYPES).flat()),
          latin1,
        ),
      }),
    );
  const queries = fc.tuple(pairs, fc.constantFrom(urlEncoded, rawPairs)).map(([all, encode]) => encode(all));
  const headerValues = fc.oneof(
    values.map(text => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')),
    latin1,
  );
  const headerNames = fc.oneof(
    { arbitrary: fc.constantFrom(...headers), weight: 3 },
    fc.constantFrom(...HOSTILE.filter(name => /^\w+$/.test(name))),
  );
  const cookieNames = fc.oneof(
    { arbitrary: fc.constantFrom(...cookies), weight: 3 },
    fc.constantFrom(...HOSTILE),
    latin1,
  );
  const cookieLines = fc
    .array(fc.tuple(cookieNames, fc.constantFrom('=', '="', ' = ', ''), headerValues), { maxLength: 3 })
    .map(all => all.map(parts => parts.join('')).join('; '));
  return fc
    .record({
      method: fc.constantFrom('POST', 'POST', 'PUT', 'GET', 'DELETE', 'HEAD'),
      endpoint: fc.constantFrom(...endpoints),
      segment: fc.oneof(fc.constantFrom('', '1', 'x', '%', '%ff', '__proto__', '%00', '%2F'), values.map(lossyEncode)),
      query: queries,
      sent: fc.option(bodies),
      coding: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 9 },
        fc.constantFrom('gzip', 'br', 'deflate', 'identity', '__proto__', 'constructor', ''),
      ),
      chunked: fc.oneof({ arbitrary: fc.constant(false), weight: 5 }, fc.constant(true)),
      cookie: cookieLines,
      others: fc.array(fc.tuple(headerNames, headerValues), { maxLength: 4 }),
    })
    .map(({ method, endpoint, segment, query, sent, coding, chunked, cookie, others }): Sent => ({
      method,
      path: `${endpoint.replace('*', () => segment)}?${query}`,
      ...(sent && { body: sent.body }),
      headers: Object.fromEntries([
        ...others,
        ['Cookie', cookie],
        ...(sent ? [['Content-Type', sent.type] as const] : []),
        ...(coding === undefined ? [] : [['Content-Encoding', coding] as const]),
        ...(sent && chunked ? [['Transfer-Encoding', 'chunked'] as const] : []),
      ]),
    }));
}
