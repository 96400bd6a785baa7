import { processorTime } from '../../support/processor-time';
import { dto, guid, queryParam, uri, version, Version } from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Ids extends dto({
  guid: queryParam(guid, { required: false }),
  uri: queryParam(uri, { required: false }),
  version: queryParam(version, { required: false }),
}) {}
const inQuery = (name: keyof Ids, text: string) =>
  bind(Ids, { method: 'GET', path: `/?${name}=${encodeURIComponent(text)}` });

const CANONICAL = '0f8fad5b-d9cb-469f-a165-70867728950e';

it.each([
  CANONICAL,
  CANONICAL.toUpperCase(),
  CANONICAL.replaceAll('-', ''),
  `{${CANONICAL}}`,
  `(${CANONICAL})`,
  ` ${CANONICAL} `,
])('guid reads %j, as lower-case text with dashes', async text => {
  expect((await inQuery('guid', text)).dto?.guid).toBe(CANONICAL);
});

it.each([
  'x',
  CANONICAL.slice(1),
  `${CANONICAL}0`,
  `{${CANONICAL}`,
  `{${CANONICAL})`,
  `${CANONICAL}}`,
  CANONICAL.replace('0', 'g'),
  '0f8fad5bd-9cb-469f-a165-70867728950e',
])('guid refuses %j', async text => {
  expect((await inQuery('guid', text)).errors).toEqual([
    {
      name: 'guid',
      in: 'query',
      detail: `The value "${text}" is not a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301.`,
    },
  ]);
});

it.each(['https://example.org/a?b=c#d', 'http://127.0.0.1:8080/'])('uri reads %s as a URL', async text => {
  const { dto: bound } = await inQuery('uri', text);
  expect(bound?.uri).toBeInstanceOf(URL);
  expect(bound?.uri?.href).toBe(text);
});

describe('the scheme of a uri', () => {
  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://example.org/x',
    'mailto:a@example.org',
    'urn:isbn:0451450523',
    'ws://example.org',
  ])('is http or https, in JSON and in text: not %j', async text => {
    class Link extends dto({ link: uri }) {}
    const detail = expect.stringMatching(/ is not a URL that begins with http: or https:\.$/) as string;
    expect((await bind(Link, { json: { link: text } })).errors).toMatchObject([{ name: 'link', in: 'json', detail }]);
    expect((await inQuery('uri', text)).errors).toMatchObject([{ name: 'uri', in: 'query' }]);
  });

  it('is in any case', async () => {
    expect((await inQuery('uri', 'HTTP://example.org')).dto?.uri).toEqual(new URL('http://example.org/'));
  });
});

it.each(['/path', 'example.org', '//example.org', 'http://', 'http://a b'])(
  'uri refuses %j: it is not absolute',
  async text => {
    expect((await inQuery('uri', text)).errors).toMatchObject([{ name: 'uri', in: 'query' }]);
  },
);

it.each<[string, ConstructorParameters<typeof Version>]>([
  ['1.2', [1, 2]],
  ['1.2.3', [1, 2, 3]],
  ['1.2.3.4', [1, 2, 3, 4]],
  [' 01.0.2147483647 ', [1, 0, 2_147_483_647]],
])('version reads %j', async (text, parts) => {
  const { dto: bound } = await inQuery('version', text);
  expect(bound?.version).toEqual(new Version(...parts));
  expect(JSON.stringify(bound?.version)).toBe(JSON.stringify(parts.join('.')));
});

it.each(['1', '1.2.3.4.5', '1.', '.1', '1.-2', '1.2147483648', 'v1.2', '1.2-beta'])(
  'version refuses %j',
  async text => {
    expect((await inQuery('version', text)).errors).toEqual([
      {
        name: 'version',
        in: 'query',
        detail: `The value "${text}" is not a version of two to four numbers, for example 1.2.3.`,
      },
    ]);
  },
);

it('all are text in JSON, and nothing else', async () => {
  class Json extends dto({ guid, uri, version }) {}
  expect((await bind(Json, { json: { guid: CANONICAL, uri: 'https://x.example/y', version: '1.2' } })).dto).toEqual({
    guid: CANONICAL,
    uri: new URL('https://x.example/y'),
    version: new Version(1, 2),
  });
  expect((await bind(Json, { json: { guid: 1, uri: {}, version: 1.2 } })).errors.map(({ pointer }) => pointer)).toEqual(
    ['/guid', '/uri', '/version'],
  );
});

describe('a uri in JSON', () => {
  class Link extends dto({ to: uri }) {}
  /** Of many different characters: what a host costs grows with their number, too. */
  const long = Array.from({ length: 200_000 }, (_, index) =>
    String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)),
  ).join('');

  // A URL may have white space and control characters before it, and tabs and line breaks anywhere (WHATWG URL, section 4.4).
  it.each([['https://'], ['http://user@'], ['\u0001https://'], ['ht\ntps:\t//']])(
    'whose host has 200,000 characters is refused within five seconds of processor time: %j',
    async before => {
      const ms = await processorTime(async () => {
        const { status, errors } = await bind(Link, { json: { to: before + long } });
        expect([status, errors.map(({ pointer }) => pointer)]).toEqual([400, ['/to']]);
      });
      expect(ms).toBeLessThan(5_000);
    },
  );

  // What a host costs grows with the square of the length of its labels beyond ASCII.
  it.each<[string, string, number]>([
    ['8,000 characters', 'x'.repeat(8_000 - 18), 200],
    ['8,001 characters', 'x'.repeat(8_001 - 18), 400],
    ['1,000 characters, of which some are beyond ASCII', '\u00e9'.repeat(1_000 - 18), 200],
    ['1,001 characters, of which some are beyond ASCII', '\u00e9'.repeat(1_001 - 18), 400],
  ])('of %s', async (_what, rest, status) => {
    expect((await bind(Link, { json: { to: `https://a.example/${rest}` } })).status).toBe(status);
  });
});
