import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Keyv } from 'keyv';
import type { RequestHandler } from 'express';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../lib';
import { countingService } from '../support/counting-service';
import { expressVersions } from '../support/express-versions';
import { guarded, type Keyed } from '../support/guarded';

const scope: IdempotencyOptions['scope'] = req => req.get('X-Who');
const store = new Keyv();

/** What another copy of the package in this process exports. */
function anotherCopy(): typeof idempotency {
  const copies: { idempotency: typeof idempotency }[] = [];
  jest.isolateModules(() => copies.push(jest.requireActual('../../lib')));
  return (copies[0] as { idempotency: typeof idempotency }).idempotency;
}

describe.each(expressVersions)('two guards on the way of one request, %s,', (_version, version) => {
  /** What each of two users is answered, and how often the handler ran. */
  async function answers(outer: RequestHandler, inner: RequestHandler) {
    const { answersTo, runs } = await countingService(outer, { version, behind: [inner] });
    const who = ['ann', 'ann', 'bob', 'ann'].map(name => ({ headers: { 'X-Who': name } }));
    return { texts: [...new Set(await answersTo(who))], runs: runs() };
  }

  const all = { cacheDuration: 5_000, additionalHeaders: ['X-A'], keyPattern: /k/, scope: () => 'all' };
  it.each<[string, IdempotencyOptions]>([
    ['no options', {}],
    ['the same options', { store, ...all }],
  ])('with %s are one guard, also if they are of two copies of the package', async (_what, options) => {
    const again = { ...options, ...(options.keyPattern && { additionalHeaders: ['X-A'], keyPattern: /k/ }) };
    const one = { texts: ['1'], runs: 1 };
    expect(await answers(idempotency(options), idempotency(again))).toEqual(one);
    const shared = { scope: () => 'copies', ...(options.store && { store }) };
    expect(await answers(idempotency(shared), anotherCopy()(shared))).toEqual(one);
  });

  it.each<[string, IdempotencyOptions, IdempotencyOptions]>([
    ['scope', {}, { scope }],
    ['cacheDuration', {}, { cacheDuration: 5 }],
    ['additionalHeaders', { additionalHeaders: ['X-A'] }, { additionalHeaders: ['X-B'] }],
    ['keyPattern', {}, { keyPattern: /k/ }],
    ['store', {}, { store }],
    ['leases', { store }, { store, leases: memoryLeases() }],
    ['shouldCache', {}, { shouldCache: () => false }],
    ['onEvent', { onEvent: () => undefined }, {}],
    ['includeFileContents, sameBody', { sameBody: 'json' }, { includeFileContents: true }],
    ['ignoreRequestBody, whenKeyReused', { ignoreRequestBody: true }, { whenKeyReused: 'reject' }],
  ])('with another %s are an error, and nothing runs', async (names, outer, inner) => {
    const { texts, runs } = await answers(idempotency(outer), idempotency(inner));
    const [, listed = ''] =
      /^idempotency: two idempotency\(\) with different options \(([\w, ]+)\) are mounted for this request/.exec(
        texts.join('\n'),
      ) ?? [];
    expect([listed.split(', ').sort().join(', '), runs]).toEqual([names, 0]);
  });

  it.each<unknown>([{ key: 'k' }, { forget: () => undefined }, 'k', true])(
    'of which the first is not ours and leaves %j in req.idempotency are an error, and nothing runs',
    async left => {
      const foreign: RequestHandler = (req, _res, next) => next(void Object.assign(req, { idempotency: left }));
      const message = /^idempotency: something other than bindonce has set req\.idempotency\./;
      expect(await answers(foreign, idempotency())).toEqual({ texts: [expect.stringMatching(message)], runs: 0 });
    },
  );
});

it('over HTTP/2 it is an error that says what to do, and nothing runs', async () => {
  const errors: unknown[] = [];
  const guard = idempotency() as unknown as (req: unknown, res: unknown, next: (error: unknown) => void) => void;
  const server = createServer((req, res) => {
    guard(req, res, error => {
      errors.push(error);
      res.writeHead(500).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stream = client.request({ ':method': 'POST', ':path': '/', 'idempotency-key': 'k' });
  stream.end('{}');
  const [{ ':status': status }] = (await once(stream, 'response')) as [{ ':status': number }];
  client.destroy();
  server.close();
  const message =
    'idempotency: this request came over HTTP/2 (node:http2), whose responses cannot be recorded, so the handler does not run. ' +
    'Serve HTTP/1.1 with node:http or node:https, and let a proxy in front of it speak HTTP/2.';
  expect([status, ...errors]).toEqual([500, new Error(message)]);
});

const [lets, posts] = [{ whenKeyMissing: 'run' }, { methods: ['post', 'PATCH'] }] as const;
const keyless = { key: '' };
const get = (request: Keyed): Keyed => ({ ...request, method: 'GET' });
const two: Keyed = { headers: { 'Idempotency-Key': ['a', 'b'] } };

/** `1` is an answer of the first run, `1 k` of the first run, which saw the key. */
it.each<[what: string, IdempotencyOptions, Keyed[], answers: string, inner?: IdempotencyOptions]>([
  ['without a key, or with a blank one', lets, [keyless, { key: ' ' }, { key: '""' }, {}, {}], '1, 2, 3, 4 k, 4 k'],
  ['with a malformed key, or with two, is refused:', { ...lets, keyPattern: /^\d+$/ }, [{}, two], '400, 400'],
  ['whose method is not guarded', posts, [get(keyless), get({}), get({}), keyless, {}, {}], '1, 2, 3, 400, 4 k, 4 k'],
  ['whose method its route guards', { methods: ['PATCH'] }, [{}, {}, keyless], '1 k, 1 k, 400', { methods: ['POST'] }],
])('a request %s runs each time, or as the options say', async (_what, ...[options, requests, expected, inner]) => {
  for (const [, version] of expressVersions) {
    const { post } = await guarded(
      options,
      ({ idempotency: { key, signal } }, res, _next, run) =>
        res.send(`${run} ${key}`.trim() + (signal.aborted ? '!' : '')),
      { version, behind: inner ? [idempotency(inner)] : [] },
    );
    const answers = [];
    for (const request of requests) {
      const { status, text } = await post(request);
      answers.push(status === 200 ? text : status);
    }
    expect(answers.join(', ')).toBe(expected);
  }
});
