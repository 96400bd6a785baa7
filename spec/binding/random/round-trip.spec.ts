import express, { type Request, type Response } from 'express';
import fc, { type Arbitrary } from 'fast-check';
import {
  bindRequest,
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  fromForm,
  fromQuery,
  guid,
  int,
  list,
  long,
  serializerContext,
  timeSpan,
  uri,
  version,
  type AnyType,
  type NamingPolicyName,
} from '../../../lib';
import { ask, problemIn, type Sent } from '../../support/ask';
import { urlEncoded } from '../../support/one-endpoint';
import { listen, type Listening } from '../../support/listen';
import { Rich, richDtos } from './rich-dto';
import {
  jsonOf,
  multipart,
  rootPairsOf,
  urlEncode,
  valueOf,
  withBrackets,
  withDots,
  type Choose,
  type Filled,
} from './spelling';

class InForm extends dto({ it: fromForm(Rich) }) {}
class InQuery extends dto({ it: fromQuery(Rich) }) {}

let server: Listening;
let seen: unknown;

beforeAll(async () => {
  const see = (req: Request, res: Response): void => {
    seen = req.dto;
    res.json(null);
  };
  server = await listen(
    express()
      .all('/flat', bindRequest(Rich, urlEncoded), see)
      .all('/form', bindRequest(InForm, urlEncoded), see)
      .all('/query', bindRequest(InQuery), see),
  );
});

afterAll(() => server.close());

/** The request that is under way. */
let current: Promise<unknown> = Promise.resolve();
// fast-check does not wait for the run that its time limit interrupts; the next spec must not see its request.
afterEach(() => current.catch(() => undefined));

/** What the handler sees, or why it sees nothing. */
async function bound(sent: Sent): Promise<unknown> {
  seen = undefined;
  const asked = ask(server.url, sent);
  current = asked;
  const response = await asked;
  return response.status === 200 ? seen : (problemIn(response) ?? response.text);
}

/** A counterexample gets smaller for some seconds only: there are thousands of ways to make such a dto smaller. */
const RUNS = { numRuns: 50, interruptAfterTimeLimit: 15_000 };

it('a dto written as JSON is bound to an equal one', async () => {
  await fc.assert(
    fc.asyncProperty(richDtos(), async dto => {
      expect(await bound({ path: '/flat', json: jsonOf(dto) })).toStrictEqual(valueOf(dto));
    }),
    RUNS,
  );
});

describe.each<[string, (spelled: Filled, choose: Choose) => Sent, (dto: unknown) => unknown]>([
  [
    'a query, nested dtos as JSON text',
    (dto, choose) => ({ method: 'GET', path: `/flat?${urlEncode(rootPairsOf(dto, choose), choose)}` }),
    dto => dto,
  ],
  [
    'a query, nested names with dots',
    (dto, choose) => ({ method: 'GET', path: `/query?${urlEncode(rootPairsOf(dto, choose, withDots), choose)}` }),
    it => Object.assign(new InQuery(), { it }),
  ],
  [
    'a query, nested names in brackets',
    (dto, choose) => ({ method: 'GET', path: `/query?${urlEncode(rootPairsOf(dto, choose, withBrackets), choose)}` }),
    it => Object.assign(new InQuery(), { it }),
  ],
  [
    'a urlencoded form, nested dtos as JSON text',
    (dto, choose) => ({ path: '/flat', form: urlEncode(rootPairsOf(dto, choose), choose) }),
    dto => dto,
  ],
  [
    'a urlencoded form, nested names',
    (dto, choose) => ({
      path: '/form',
      form: urlEncode(rootPairsOf(dto, choose, choose(withDots, withBrackets)), choose),
    }),
    it => Object.assign(new InForm(), { it }),
  ],
  [
    'a multipart form, nested dtos as JSON text',
    (dto, choose) => ({ path: '/flat', ...multipart(rootPairsOf(dto, choose)) }),
    dto => dto,
  ],
  [
    'a multipart form, nested names',
    (dto, choose) => ({ path: '/form', ...multipart(rootPairsOf(dto, choose, choose(withDots, withBrackets))) }),
    it => Object.assign(new InForm(), { it }),
  ],
])('a dto written as %s', (_format, write, expected) => {
  it('binds back equal', async () => {
    await fc.assert(
      fc.asyncProperty(richDtos({ inNames: true }), fc.gen(), async (dto, gen) => {
        const sent = write(dto, (...ways) => gen(fc.constantFrom, ...ways));
        expect(await bound(sent)).toStrictEqual(expected(valueOf(dto)));
      }),
      RUNS,
    );
  });
});

describe('a serializer context', () => {
  const policies: NamingPolicyName[] = ['camelCase', 'snake_case', 'kebab-case', 'PascalCase'];
  const contexts = policies.map(propertyNamingPolicy =>
    serializerContext({ request: Rich, responses: { 200: Rich }, propertyNamingPolicy }),
  );

  it('reads back what it writes', async () => {
    await fc.assert(
      fc.asyncProperty(richDtos(), fc.constantFrom(...contexts), async (dto, context) => {
        const value = valueOf(dto);
        expect(await context.read(context.write(200, value))).toStrictEqual(value);
      }),
      RUNS,
    );
  });
});

describe('a type reads the same value from the text that it writes', () => {
  const contextOf = <T extends AnyType>(type: T) =>
    serializerContext({ request: list(type), responses: { 200: list(type) } });
  const words = ['', 'red', 'Dark blue', '1', 'G'] as const;

  it.each<[string, AnyType, Arbitrary<string>]>([
    ['bool', bool, fc.constantFrom('true', 'false')],
    ['int', int, fc.integer().map(String)],
    ['long', long, fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).chain(value => fc.constantFrom(`${value}`, `"${value}"`))],
    ['double', double, fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value))],
    [
      'decimal',
      decimal,
      fc
        .stringMatching(/^-?[1-9]\d{0,25}(\.\d{1,25})?(e[+-]?\d{1,2})?$/)
        .chain(text => fc.constantFrom(text, `"${text}"`)),
    ],
    [
      'dateTime',
      dateTime,
      fc.stringMatching(
        /^"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):[0-5]\d)?)?"$/,
      ),
    ],
    [
      'timeSpan',
      timeSpan,
      fc.oneof(
        fc.stringMatching(/^"-?([1-9]\d{0,6}\.)([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,7})?)?"$/),
        fc.stringMatching(/^"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,7})?)?"$/),
        fc.stringMatching(/^"-?P[1-9]\d{0,5}DT\d{1,6}H\d{1,6}M\d{1,6}(\.\d{1,7})?S"$/),
      ),
    ],
    [
      'guid',
      guid,
      fc.stringMatching(/^"(\{[\da-fA-F]{32}\}|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})"$/),
    ],
    [
      'uri',
      uri,
      fc
        .oneof(
          fc.webUrl({ withFragments: true, withQueryParameters: true }),
          fc.string({ unit: 'binary' }).map(rest => `http://a/${rest}`),
        )
        .map(text => JSON.stringify(text)),
    ],
    ['version', version, fc.stringMatching(/^"\d{1,9}(\.\d{1,9}){1,3}"$/)],
    [
      'enumOf',
      enumOf(words),
      fc
        .constantFrom(...words)
        .chain(word => fc.constantFrom(word, word.toUpperCase(), ` ${word} `))
        .map(text => JSON.stringify(text)),
    ],
  ])('%s', async (_name, type, texts) => {
    const context = contextOf(type);
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1 }), async items => {
        // A URL that is none is refused; everything else here can be read.
        const read = await context.read(
          `[${items.filter(item => type !== uri || URL.canParse(JSON.parse(item) as string)).join()}]`,
        );
        expect(await context.read(context.write(200, read))).toStrictEqual(read);
      }),
      RUNS,
    );
  });

  it.each<[string, AnyType, string]>([
    ['the largest power of ten', decimal, '1e128'],
    ['the smallest power of ten', decimal, '1e-128'],
    ['the longest whole number', decimal, '9'.repeat(128)],
    ['more days than seven digits can say', timeSpan, 'P99999999D'],
  ])('%s', async (_what, type, text) => {
    const context = contextOf(type);
    const read = await context.read(JSON.stringify([text]));
    expect(await context.read(context.write(200, read))).toStrictEqual(read);
  });

  it('a fraction of a second that is rounded up carries over into the seconds', () => {
    expect(contextOf(timeSpan).write(200, [999.99999, 59_999.99999, -999.99999])).toBe(
      '["00:00:01","00:01:00","-00:00:01"]',
    );
  });

  it('a decimal reads a JSON number as it reads the same text', async () => {
    expect(await contextOf(decimal).read('[1e128]')).toStrictEqual(await contextOf(decimal).read('["1e128"]'));
  });
});
