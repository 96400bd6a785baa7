import type { IncomingMessage } from 'node:http';
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
import { EventLog } from '../../support/event-log';
import { send, type WireResponse } from '../../support/listen';
import { RawClient } from '../../support/raw-client';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';
import { signal } from '../../support/signal';

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
    ['beside another one', [leave({ auth: { sub: 'gateway' } })], leave({ user: { id: 1 } })],
    ['instead of another one', [leave({ user: { id: 1 } })], leave({ user: { id: 2 } })],
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
    expect(events.map(({ kind }) => kind)).toEqual(['not-stored', 'unavailable', 'unavailable']);
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

describe.each(expressVersions)('a scope that reads the connection, %s,', (_version, express) => {
  /** The text of a retry, after the client of the first request has left while its handler ran. */
  async function retryOfGoneClient(scope: IdempotencyOptions['scope'], ...behind: RequestHandler[]): Promise<string> {
    const log = new EventLog();
    const begun = signal();
    let runs = 0;
    const app = express().post('/', idempotency({ scope, onEvent: log.onEvent }), ...behind, (_req, res) => {
      runs++;
      // The server's own socket, since `req.socket` hides that the client has left.
      res.socket?.once('close', () => res.send(`run ${runs}`));
      begun.happens();
    });
    const { url, port } = await serve(app);
    const client = new RawClient(port);
    const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`;
    await client.send(head);
    await begun.happened;
    client.leave();
    await Promise.race([log.first('executed'), log.first('not-stored')]);
    return (await send(url, { headers: keyed('k') })).text;
  }

  // A closed socket has no address and no certificate.
  const byAddress = (req: IncomingMessage): string => {
    const { address } = req.socket.address() as { readonly address?: string };
    if (address === undefined) throw new Error('there is no certificate');
    return address;
  };

  it.each<[string, IdempotencyOptions['scope']]>([
    ['throws', byAddress],
    ['says another text', req => JSON.stringify(req.socket.address())],
  ])('and %s when its client has left, does not lose the response', async (_how, scope) => {
    expect(await retryOfGoneClient(scope)).toBe('run 1');
    expect(warnings()).toEqual([]);
  });

  it('does not share a response where a caller has appeared besides', async () => {
    expect(await retryOfGoneClient(byAddress, leave({ user: { id: 1 } }))).toContain('response-unavailable');
  });

  it('gets the credentials that the request had, although the handler has removed them', async () => {
    const scope: IdempotencyOptions['scope'] = (_req, caller) => JSON.stringify([caller]);
    const app = express().post('/', idempotency({ scope }), (req, res) => {
      delete req.headers.authorization;
      res.send('ran');
    });
    const { url } = await serve(app);
    const headers = keyed('k', { Authorization: 'Bearer a' });
    expect([(await send(url, { headers })).text, (await send(url, { headers })).text]).toEqual(['ran', 'ran']);
  });
});

it('a scope that is undefined for a request with cookies causes a warning, once', async () => {
  const [[, express]] = expressVersions as [(typeof expressVersions)[number]];
  const guard = idempotency({ scope: req => (req as { readonly cookies?: { readonly sid?: string } }).cookies?.sid });
  const { url } = await serve(
    express().post('/', guard, (_req, res) => {
      res.send('ran');
    }),
  );
  await send(url, { headers: keyed('k') });
  expect(warnings()).toEqual([]);
  for (const sent of [{ Cookie: 'sid=1' }, { Cookie: 'sid=2' }]) await send(url, { headers: keyed('k', sent) });
  expect(warnings()).toEqual(['BINDONCE_NO_SCOPE']);
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
