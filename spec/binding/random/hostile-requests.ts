import fc, { type Arbitrary } from 'fast-check';
import type { Sent } from '../../support/ask';

/** Names that mean something to JavaScript, to a parser or to a library. */
export const HOSTILE = [
  ...'__proto__ constructor prototype toString valueOf hasOwnProperty toJSON then length push'.split(' '),
  ...'__defineGetter__ 0 1 -1 4294967295 * % %00 [ ] . polluted isLosslessNumber value ~standard'.split(' '),
  ...['', ' '],
];

/** Half of a surrogate pair, which has no percent-encoding, becomes U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** What is put into a request, anywhere: names, values of all types, and parts of every format. */
const TOKENS = [
  ...HOSTILE,
  ...'true FALSE -0 1e3 1e400 -1E-400 9007199254740993 99999999999999999999 1.50 0x1 NaN null undefined'.split(' '),
  ...'2026-11-21 2026-02-30T25:61 00:01 -9999999.23:59:59.9999999 PT P1D {0f8fad5b http://[ data:, 1.2.3.4.5'.split(
    ' ',
  ),
  ...', ,, { [1 [] {} {},{} [[[]]] {"__proto__":{"polluted":1}} [{"__proto__":[]}] " \\u0000 "\\ud800" 01 +1'.split(
    ' ',
  ),
  ...'{"toString":1,"valueOf":{}} {"then":1} {"constructor":{"prototype":{"polluted":1}}} "\\x" [a] .b ]['.split(' '),
  ...[
    '; filename="a"',
    '; filename=""',
    "; filename*=x''%ff",
    '; name="b"',
    "; name*=utf-8''b",
    '--x',
    '--x--',
    '\r\n',
  ],
  ...[
    '\r\nContent-Type: application/json',
    '\r\nContent-Type: text/plain; charset=nope',
    '\r\n: x',
    '\ufeff',
    '&',
    '=',
  ],
];

type Pairs = readonly (readonly [name: string, value: string])[];
const urlEncoded = (pairs: Pairs): string => pairs.map(pair => pair.map(encodeURIComponent).join('=')).join('&');
const multipart = (pairs: Pairs): string =>
  pairs
    .map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .concat('--x--\r\n')
    .join('');

/** Texts with some parts of them cut out, doubled or replaced. */
function damaged(texts: Arbitrary<string>): Arbitrary<string> {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(8),
    kind: fc.constantFrom('put', 'put', 'replace', 'double', 'end'),
    token: fc.oneof({ arbitrary: fc.constantFrom(...TOKENS), weight: 4 }, fc.string({ unit: 'binary', maxLength: 4 })),
  });
  return fc.tuple(texts, fc.array(damage, { maxLength: 3 })).map(([text, damages]) =>
    damages.reduce((whole, { at, length, kind, token }) => {
      const from = Math.floor(at * whole.length);
      const [head, middle, tail] = [whole.slice(0, from), whole.slice(from, from + length), whole.slice(from + length)];
      const put = { put: token + middle, replace: token, double: middle + middle, end: '' }[kind];
      return head + put + (kind === 'end' ? '' : tail);
    }, text),
  );
}

interface Declared {
  /** Paths, `*` for a segment of any text. */
  readonly endpoints: readonly string[];
  /** Names and values that get far: most fit, some are known attacks. */
  readonly likelyPairs: Pairs;
  /** The same in JSON. */
  readonly likelyFields: readonly string[];
  readonly headers: readonly string[];
  readonly cookies: readonly string[];
}

/** Requests that were valid once, of which nothing is well-formed for sure, but what HTTP itself demands. */
export function hostileRequests({ endpoints, likelyPairs, likelyFields, ...names }: Declared): Arbitrary<Sent> {
  const pairs = fc.array(fc.constantFrom(...likelyPairs), { maxLength: 6 });
  const objects = fc.array(fc.constantFrom(...likelyFields), { maxLength: 6 }).map(fields => `{${fields.join()}}`);
  const bodies = fc.oneof(
    fc.tuple(fc.constant('application/json'), objects),
    fc.tuple(
      fc.constant('application/vnd.x+json; charset="UTF-8"'),
      fc.array(objects).map(all => `[${all.join()}]`),
    ),
    fc.tuple(fc.constant('application/x-www-form-urlencoded'), pairs.map(urlEncoded)),
    fc.tuple(fc.constant('multipart/form-data; boundary=x'), pairs.map(multipart)),
    fc.tuple(fc.constantFrom('text/plain; charset=utf-16', 'application', ';', ''), objects),
  );
  const texts = damaged(fc.constantFrom('', ...likelyPairs.map(([, value]) => value)));
  // What node takes for the value of a header.
  const headerTexts = (given: Arbitrary<string>) => given.map(text => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?'));
  const cookies = fc.array(fc.tuple(fc.constantFrom(...names.cookies, ...HOSTILE), texts), { maxLength: 3 });
  return fc
    .record({
      method: fc.constantFrom('POST', 'POST', 'PUT', 'GET', 'DELETE', 'HEAD'),
      path: fc
        .tuple(fc.constantFrom(...endpoints), texts, damaged(pairs.map(urlEncoded)))
        .map(([path, text, query]) => `${path.replace('*', () => encodeURIComponent(wellFormed(text)))}?${query}`),
      sent: fc.option(bodies.chain(([type, body]) => fc.tuple(damaged(fc.constant(type)), damaged(fc.constant(body))))),
      more: fc.array(
        fc.constantFrom(
          ...['gzip', 'br', 'identity', '__proto__', ''].map(coding => ['Content-Encoding', coding] as const),
          ['Transfer-Encoding', 'chunked'] as const,
        ),
        { maxLength: 1 },
      ),
      cookie: headerTexts(damaged(cookies.map(all => all.map(one => one.join('=')).join('; ')))),
      others: fc.array(fc.tuple(fc.constantFrom(...names.headers, 'then', '_'), headerTexts(texts)), { maxLength: 4 }),
      type: fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, headerTexts(damaged(fc.constant('text/plain')))),
    })
    .map(({ method, path, sent, more, cookie, others, type }): Sent => {
      const [own, body] = sent ?? [];
      const headers = [...others, ['Cookie', cookie] as const, ...(body === undefined ? [] : more)];
      const typed =
        body === undefined ? [] : [['Content-Type', type ?? own?.replace(/[^\t\x20-\x7e]/g, '?') ?? ''] as const];
      return { method, path, ...(body !== undefined && { body }), headers: Object.fromEntries([...headers, ...typed]) };
    });
}
