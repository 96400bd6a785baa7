import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Keyv } from 'keyv';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../lib';
import { send } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { keyed } from '../support/replays';

const scope: IdempotencyOptions['scope'] = req => req.get('X-Who');
const store = new Keyv();

/** What another copy of the package in this process exports. */
function anotherCopy(): { idempotency: typeof idempotency } {
  let copy: { idempotency: typeof idempotency } | undefined;
  jest.isolateModules(() => {
    copy = jest.requireActual('../../lib');
  });
  return copy as { idempotency: typeof idempotency };
}

describe.each(expressVersions)('two guards on the way of one request, %s,', (_version, express) => {
  /** Three equal requests of each of two users through these middlewares. */
  async function answers(...guards: RequestHandler[]) {
    let runs = 0;
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    };
    const app = express()
      .post('/', ...guards, (_req, res) => void res.send(String(++runs)))
      .use(onError);
    const { url } = await serve(app);
    const texts: string[] = [];
    for (const who of ['ann', 'ann', 'bob', 'bob', 'ann', 'bob'])
      texts.push((await send(url, { headers: keyed('k', { 'X-Who': who }) })).text);
    return { texts: [...new Set(texts)], runs };
  }

  it.each<[string, IdempotencyOptions, IdempotencyOptions]>([
    ['no options', {}, {}],
    [
      'the same options',
      { store, cacheDuration: 5_000, additionalHeaders: ['X-A'], keyPattern: /k/, scope: () => 'all' },
      {},
    ],
  ])('with %s are one guard', async (_what, options) => {
    expect(
      await answers(
        idempotency(options),
        idempotency({ ...options, ...(options.additionalHeaders && { additionalHeaders: ['X-A'], keyPattern: /k/ }) }),
      ),
    ).toEqual({ texts: ['1'], runs: 1 });
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
    ['sameBody, includeFileContents', { sameBody: 'json' }, { includeFileContents: true }],
    ['whenKeyReused, ignoreRequestBody', { ignoreRequestBody: true }, { whenKeyReused: 'reject' }],
  ])('with another %s are an error, and nothing runs', async (names, outer, inner) => {
    const { texts, runs } = await answers(idempotency(outer), idempotency(inner));
    expect(runs).toBe(0);
    expect(texts).toHaveLength(1);
    const [, listed = ''] =
      /^idempotency: two idempotency\(\) with different options \(([\w, ]+)\) are mounted for this request/.exec(
        texts[0] ?? '',
      ) ?? [];
    expect(listed.split(', ').sort()).toEqual(names.split(', ').sort());
  });

  it.each<[string, IdempotencyOptions]>([
    ['no options', {}],
    ['the same store', { store }],
  ])('of two copies of the package with %s are one guard', async (_what, options) => {
    const { idempotency: other } = anotherCopy();
    const all = { scope: () => 'copies', ...options };
    expect(await answers(idempotency(all), other(all))).toEqual({ texts: ['1'], runs: 1 });
  });

  it.each<[string, unknown]>([
    ['an object', { key: 'k' }],
    ['an object with forget', { forget: () => undefined }],
    ['text', 'k'],
    ['true', true],
  ])(
    'of which the first is not ours and leaves %s in req.idempotency are an error, and nothing runs',
    async (_what, left) => {
      const foreign: RequestHandler = (req, _res, next) => {
        Object.assign(req, { idempotency: left });
        next();
      };
      const { texts, runs } = await answers(foreign, idempotency());
      expect([texts, runs]).toEqual([
        [expect.stringMatching(/^idempotency: something other than bindonce has set req\.idempotency\./)],
        0,
      ]);
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
  try {
    const stream = client.request({ ':method': 'POST', ':path': '/', 'idempotency-key': 'k' });
    stream.end('{}');
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
    expect(headers[':status']).toBe(500);
    expect(errors).toEqual([
      new Error(
        'idempotency: this request came over HTTP/2 (node:http2), whose responses cannot be recorded, so the handler does not run. Serve HTTP/1.1 with node:http or node:https, and let a proxy in front of it speak HTTP/2.',
      ),
    ]);
  } finally {
    client.destroy();
    server.close();
  }
});
