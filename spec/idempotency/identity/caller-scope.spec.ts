import type { RequestHandler } from 'express';
import {
  configure,
  dto,
  idempotency,
  optional,
  string,
  type IdempotencyEvent,
  type IdempotencyOptions,
} from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

class Anything extends dto({ a: optional(string) }) {}

let emitWarning: jest.SpyInstance;
beforeEach(() => {
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => {
  emitWarning.mockRestore();
});
const warnings = (): unknown[] => emitWarning.mock.calls.map(([, options]) => (options as { code?: string }).code);

const leave =
  (left: object): RequestHandler =>
  (req, _res, next) => {
    Object.assign(req, left);
    next();
  };

it('a guard that is mounted before authentication causes a warning, once', async () => {
  const [[, express]] = expressVersions as [(typeof expressVersions)[number]];
  const { url } = await serve(
    express().post('/', idempotency(), leave({ user: { id: 1 } }), (_req, res) => {
      res.end();
    }),
  );
  for (const key of ['a', 'b']) expect((await send(url, { headers: keyed(key) })).status).toBe(200);
  expect(warnings()).toEqual(['BINDONCE_MOUNTED_BEFORE_AUTHENTICATION']);
});

describe.each(expressVersions)('a caller that appears behind the guard, %s,', (_version, express) => {
  /** Two equal requests: the middlewares behind the guard, then a handler that shows a balance. */
  async function twice(guard: RequestHandler, before: readonly RequestHandler[], ...behind: RequestHandler[]) {
    const state = { runs: 0 };
    const app = express().post('/', ...before, guard, ...behind, (_req, res) => {
      state.runs++;
      res.json({ balance: 100 });
    });
    const { url } = await serve(app);
    const answers: WireResponse[] = [];
    for (let turn = 0; turn < 3; turn++) answers.push(await send(url, { headers: keyed('k') }));
    return { statuses: answers.map(({ status }) => status), last: answers.at(-1)?.text ?? '', runs: state.runs };
  }

  it.each<[string, readonly RequestHandler[], RequestHandler]>([
    ['as req.user', [], leave({ user: { id: 1 } })],
    ['as req.auth', [], leave({ auth: { sub: 'a' } })],
    ['as a function', [], leave({ auth: () => ({ userId: 'a' }) })],
    ['as something that cannot be read', [], leave({ user: true })],
    ['beside another one', [leave({ auth: { sub: 'gateway' } })], leave({ user: { id: 1 } })],
    ['instead of another one', [leave({ user: { id: 1 } })], leave({ user: { id: 2 } })],
    ['in another tenant', [leave({ user: { id: 1, tenantId: 'a' } })], leave({ user: { id: 1, tenantId: 'b' } })],
  ])('%s, gets its answer, which is never replayed', async (_how, before, behind) => {
    const events: IdempotencyEvent[] = [];
    const { statuses, last, runs } = await twice(
      idempotency({
        onEvent: event => {
          events.push(event);
        },
      }),
      before,
      behind,
    );
    expect([statuses, runs]).toEqual([[200, 409, 409], 1]);
    expect(last).not.toContain('balance');
    expect(JSON.parse(last)).toMatchObject({ type: 'urn:bindonce:response-unavailable' });
    expect(events.map(({ kind }) => kind)).toEqual(['not-stored', 'conflicted', 'conflicted']);
  });

  it('of configure() is one, too', async () => {
    const { idempotency: guard } = configure({ binding: { claims: req => (req as { who?: { sub: string } }).who } });
    expect((await twice(guard(), [], leave({ who: { sub: 'a' } }))).statuses).toEqual([200, 409, 409]);
  });

  it.each<[string, IdempotencyOptions['scope']]>([
    ['is asked again and says another text', req => (req as { user?: { id: string } }).user?.id],
    [
      'cannot be asked again',
      req => {
        if ((req as { user?: object }).user) throw new Error('too late');
        return 'a';
      },
    ],
  ])('does not share where an own scope %s', async (_how, scope) => {
    expect((await twice(idempotency({ scope }), [], leave({ user: { id: 'a' } }))).statuses).toEqual([200, 409, 409]);
  });

  it.each<[string, IdempotencyOptions['scope'], readonly RequestHandler[], RequestHandler]>([
    ['an own scope says the same', () => 'registration', [], leave({ user: { id: 1 } })],
    [
      'the caller is the same, with more claims',
      undefined,
      [leave({ user: { id: 1 } })],
      leave({ user: { id: '1', name: 'Ann' } }),
    ],
    ['the caller has signed out', undefined, [leave({ user: { id: 1 }, sessionID: 's' })], leave({ user: null })],
    [
      'an own scope knows nobody any more',
      req => (req as { user?: { id: string } | null }).user?.id,
      [leave({ user: { id: '1' } })],
      leave({ user: null }),
    ],
  ])('is not one where %s: the response is replayed', async (_how, scope, before, behind) => {
    const { statuses, runs } = await twice(idempotency({ scope }), before, behind);
    expect([statuses, runs]).toEqual([[200, 200, 200], 1]);
  });

  it('and is refused there, stores nothing', async () => {
    let isKnown = false;
    const authenticate: RequestHandler = (req, _res, next) => {
      if (isKnown) Object.assign(req, { user: { id: 1 } });
      next();
    };
    const { idempotency: guard, bindRequest } = configure({ binding: { allowAnonymous: false } });
    const app = express().post('/', guard(), authenticate, bindRequest(Anything), (_req, res) => {
      res.send('ran');
    });
    const { url } = await serve(app);
    const refused = await send(url, { headers: keyed('k') });
    isKnown = true;
    expect([refused.status, (await send(url, { headers: keyed('k') })).text]).toEqual([401, 'ran']);
  });
});

it.each(expressVersions)(
  'on %s, a scope whose promise is rejected is an error, and does not end the process',
  async (_version, express) => {
    const rejected: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejected.push(reason);
    process.on('unhandledRejection', onRejection);
    try {
      const scope = (() => Promise.reject(new Error('The database is down'))) as never;
      const { url } = await serve(express().set('env', 'test').post('/', idempotency({ scope })));
      expect((await send(url, { headers: keyed('k') })).text).toContain(
        'scope must return text or undefined, not a promise',
      );
      await new Promise(setImmediate);
      expect(rejected).toEqual([]);
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  },
);
