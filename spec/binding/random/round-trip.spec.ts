import express, { type Request, type Response } from 'express';
import fc from 'fast-check';
import { bindRequest, decimal, dto, fromForm, fromQuery, list, serializerContext, timeSpan } from '../../../lib';
import type { AnyType, NamingPolicyName } from '../../../lib';
import { ask, problemIn, type Sent } from '../../support/ask';
import { urlEncoded } from '../../support/one-endpoint';
import { listen, type Listening } from '../../support/listen';
import { HOSTILE } from './hostile-requests';
import { Rich, richDtos } from './rich-dto';
import { jsonOf, multipart, rootPairsOf, Spelled, urlEncode, valueOf, withBrackets, withDots } from './spelling';
import type { Choose, Pair } from './spelling';

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

/** What is sent along on every level, and changes nothing. A field of a multipart form must have a name. */
const extras = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...HOSTILE.filter(name => name !== '')),
    fc
      .constantFrom('{"polluted":1,"text":"x","sku":"x"}', '{"prototype":{"polluted":1}}', '"x"', '1', 'null')
      .map(json => new Spelled(undefined, json, json)),
  ),
  { maxLength: 2, selector: ([name]) => name },
);

it('a dto written as JSON is bound to an equal one', async () => {
  await fc.assert(
    fc.asyncProperty(richDtos({ extras }), async dto => {
      expect(await bound({ path: '/flat', json: jsonOf(dto) })).toStrictEqual(valueOf(dto));
      expect('polluted' in {}).toBe(false);
    }),
    RUNS,
  );
});

const asQuery = (path: string) => (pairs: readonly Pair[], choose: Choose) => ({
  method: 'GET',
  path: `${path}?${urlEncode(pairs, choose)}`,
});
const asForm = (path: string) => (pairs: readonly Pair[], choose: Choose) => ({ path, form: urlEncode(pairs, choose) });
const asMultipart = (path: string) => (pairs: readonly Pair[]) => ({ path, ...multipart(pairs) });

it.each<[string, (pairs: readonly Pair[], choose: Choose) => Sent, wrap?: new () => object]>([
  ['a query, nested dtos as JSON text', asQuery('/flat')],
  ['a query, nested names', asQuery('/query'), InQuery],
  ['an urlencoded form, nested dtos as JSON text', asForm('/flat')],
  ['an urlencoded form, nested names', asForm('/form'), InForm],
  ['a multipart form, nested dtos as JSON text', asMultipart('/flat')],
  ['a multipart form, nested names', asMultipart('/form'), InForm],
])('a dto written as %s is bound to an equal one', async (...[, write, Outer]) => {
  await fc.assert(
    fc.asyncProperty(richDtos({ inNames: true, extras }), fc.gen(), async (dto, gen) => {
      const choose: Choose = (...ways) => gen(fc.constantFrom, ...ways);
      const sent = write(rootPairsOf(dto, choose, Outer && choose(withDots, withBrackets)), choose);
      const value = valueOf(dto);
      expect(await bound(sent)).toStrictEqual(Outer ? Object.assign(new Outer(), { it: value }) : value);
      expect('polluted' in {}).toBe(false);
    }),
    RUNS,
  );
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

  const contextOf = (type: AnyType) => serializerContext({ request: list(type), responses: { 200: list(type) } });

  it.each<[string, AnyType, string]>([
    ['the largest power of ten', decimal, '1e128'],
    ['the smallest power of ten', decimal, '1e-128'],
    ['the longest whole number', decimal, '9'.repeat(128)],
    ['more days than seven digits can say', timeSpan, 'P99999999D'],
  ])('reads back %s', async (_what, type, text) => {
    const context = contextOf(type);
    const read = await context.read(JSON.stringify([text]));
    expect(await context.read(context.write(200, read))).toStrictEqual(read);
  });

  it('carries a fraction of a second that is rounded up over into the seconds', () => {
    const written = contextOf(timeSpan).write(200, [999.99999, 59_999.99999, -999.99999]);
    expect(written).toBe('["00:00:01","00:01:00","-00:00:01"]');
  });

  it('reads a decimal that is a JSON number as it reads the same text', async () => {
    expect(await contextOf(decimal).read('[1e128]')).toStrictEqual(await contextOf(decimal).read('["1e128"]'));
  });
});
