import { Readable } from 'node:stream';
import type { RequestHandler } from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { EventLog } from '../support/event-log';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { keyed, visible, visibleReplay } from '../support/replays';

const UNAVAILABLE = {
  type: 'urn:bindonce:response-unavailable',
  title: 'The response is no longer available',
  status: 409,
  detail:
    'The request was executed before and is not executed again, but its response is not available. Do not retry; look up the result.',
  instance: '/',
};

const long: [title: string, handler: RequestHandler][] = [
  [
    'send',
    (_req, res) => {
      res.send('x'.repeat(11));
    },
  ],
  [
    'writes',
    (_req, res) => {
      res.write('x'.repeat(6));
      res.end('x'.repeat(5));
    },
  ],
  [
    'a stream',
    (_req, res) => {
      Readable.from(['x'.repeat(10), 'x']).pipe(res);
    },
  ],
  [
    'a Content-Length',
    (_req, res) => {
      res.set('Content-Length', '11').write('x'.repeat(10));
      res.end('x');
    },
  ],
];

describe.each(expressVersions)('on %s', (_version, express) => {
  const served = async (options: IdempotencyOptions, handler: RequestHandler) => {
    const log = new EventLog();
    const state = { runs: 0 };
    const app = express()
      .disable('x-powered-by')
      .post('/', idempotency({ onEvent: log.onEvent, ...options }), (req, res, next) => {
        state.runs++;
        return handler(req, res, next);
      });
    const { url } = await serve(app);
    return {
      log,
      state,
      post: (headers: Record<string, string> = {}): Promise<WireResponse> =>
        send(url, { headers: keyed('k', headers) }),
    };
  };

  it.each(long)(
    'a response over maxResponseBytes by %s goes out whole, and its request is never run again',
    async (_title, handler) => {
      const { log, state, post } = await served({ maxResponseBytes: 10 }, handler);
      const first = await post();
      expect([first.status, first.text]).toEqual([200, 'x'.repeat(11)]);
      for (const answer of [await post(), await post()]) {
        expect([answer.status, answer.headers['content-type'], JSON.parse(answer.text)]).toEqual([
          409,
          'application/problem+json; charset=utf-8',
          UNAVAILABLE,
        ]);
        expect(answer.headers).not.toHaveProperty('idempotent-replayed');
      }
      expect(state.runs).toBe(1);
      expect(log.kinds).toEqual(['not-stored', 'unavailable', 'unavailable']);
    },
  );

  it('a response of maxResponseBytes is stored', async () => {
    const { post } = await served({ maxResponseBytes: 10 }, (_req, res) => {
      res.write('12345');
      res.end('67890');
    });
    const first = await post();
    expect(visibleReplay(await post())).toEqual(visible(first));
  });

  it('a response over maxResponseBytes that is forgotten leaves the key free', async () => {
    const { state, post } = await served({ maxResponseBytes: 10 }, (req, res) => {
      req.idempotency.forget();
      res.send('x'.repeat(11));
    });
    await post();
    expect([(await post()).status, state.runs]).toEqual([200, 2]);
  });

  it.each<[string, (store: Keyv) => unknown]>([
    ['evicted', store => store.clear()],
    [
      'overwritten by something else',
      async store => {
        const map = store.store as { keys?(): Iterable<string> } & Map<string, string>;
        for (const key of [...map.keys()]) map.set(key, JSON.stringify({ value: { status: 200 } }));
      },
    ],
  ])('a stored response that is %s is a 409, and its request is not run again', async (_title, lose) => {
    const store = new Keyv({ store: new Map() });
    const { state, post } = await served({ store }, (_req, res) => {
      res.send('x');
    });
    await post();
    await lose(store);
    const answer = await post();
    expect([answer.status, JSON.parse(answer.text), state.runs]).toEqual([409, UNAVAILABLE, 1]);
  });

  it.each<[string, Record<string, string>]>([
    ['Idempotent-Replayed', { 'Idempotent-Replayed': 'true' }],
    ['Retry-After and Age', { 'Retry-After': '1', Age: '10' }],
    ['X-Idempotency-State', { 'X-Idempotency-State': 'done', 'X-Idempotent-Replay': '1', 'X-Cache': 'HIT' }],
  ])(
    'a client that sends %s gets its request run once, and the first answer is not marked',
    async (_title, headers) => {
      const { state, post } = await served({}, (req, res) => {
        res.json({ guarded: typeof req.idempotency.cacheKey });
      });
      const first = await post(headers);
      expect(first.lines).toEqual([
        'Idempotency-Key: k',
        'Content-Type: application/json; charset=utf-8',
        'Content-Length: 20',
        expect.stringMatching(/^ETag: /),
      ]);
      expect(visibleReplay(await post())).toEqual(visible(first));
      expect(state.runs).toBe(1);
    },
  );

  it.each<[string, IdempotencyOptions['replayedHeader'], string[]]>([
    ['is Idempotent-Replayed', undefined, ['Idempotent-Replayed: true']],
    ['has the name that is given', 'X-Again', ['X-Again: true']],
    ['can be left out', false, []],
  ])('the mark of a replay %s', async (_title, replayedHeader, expected) => {
    const { post } = await served({ replayedHeader }, (_req, res) => {
      res.send('x');
    });
    const { lines } = await post();
    expect((await post()).lines).toEqual([...lines, ...expected]);
  });

  it('the answer to HEAD has no content, also when it is a problem', async () => {
    const { url } = await serve(
      express().head('/', idempotency({ maxResponseBytes: 1 }), (_req, res) => {
        res.send('x');
      }),
    );
    const missing = await send(url, { method: 'HEAD' });
    expect([missing.status, missing.text]).toEqual([400, '']);
  });
});
