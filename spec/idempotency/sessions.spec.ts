import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import session, { type SessionOptions } from 'express-session';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { send } from '../support/listen';
import { keyed } from '../support/replays';
import { serve } from '../support/serve';

// The types of cookie-session and of express-session exclude each other.
const makeCookieSession = jest.requireActual<(options: object) => RequestHandler>('cookie-session');
const cookieSession = (options: object = {}): RequestHandler => makeCookieSession({ keys: ['k'], ...options });
const expressSession = (options: Partial<SessionOptions> = {}): RequestHandler =>
  session({ secret: 's', resave: false, saveUninitialized: false, ...options });

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Named {
  session?: { who?: string } | null;
  sessionID?: string;
}

/** A middleware that finds the session itself, in a cookie `token`. */
const own =
  (property: 'session' | 'sessionID'): RequestHandler =>
  (req, res, next) => {
    const who = /token=(\w+)/.exec(req.get('Cookie') ?? '')?.[1];
    if (who !== undefined) Object.assign(req, property === 'session' ? { session: { who } } : { sessionID: who });
    else res.cookie('token', req.path.slice('/start/'.length));
    next();
  };

class OwnStore extends session.MemoryStore {}

type Kind = [title: string, make: () => RequestHandler];
const expressSessions: Kind[] = [
  ['express-session', expressSession],
  ['express-session with a name of its own', () => expressSession({ name: 'shop.sid' })],
  [
    'express-session with a store and ids of its own',
    () => expressSession({ store: new OwnStore(), genid: () => `shop/${randomUUID()} é` }),
  ],
  ['express-session that saves every session', () => expressSession({ saveUninitialized: true })],
];
const cookieSessions: Kind[] = [
  ['cookie-session', cookieSession],
  ['cookie-session with a name of its own', () => cookieSession({ name: 'shop.session' })],
  ['cookie-session without a signature', () => cookieSession({ signed: false })],
];
const withoutSession = (): RequestHandler => own('sessionID');
const withId: Kind[] = [...expressSessions, ['an id without a session', withoutSession]];
const withoutId: Kind[] = [...cookieSessions, ['a session without an id', () => own('session')]];

type AtTheEnd = (req: Request, done: (_done?: unknown) => void) => void;

describe.each(expressVersions)('%s:', (_version, express) => {
  /** A shop where `/start/ann` begins the session of Ann, and `/` says who pays. */
  async function shop(
    middlewares: (guard: RequestHandler) => readonly RequestHandler[],
    { scope, atTheEnd = (_req, done) => done() }: Pick<IdempotencyOptions, 'scope'> & { atTheEnd?: AtTheEnd } = {},
  ) {
    const app = express().set('env', 'test');
    app.use(...middlewares(idempotency({ methods: ['POST'], whenKeyMissing: 'run', scope })));
    app.post('/start/:who', (req, res) => {
      Object.assign((req as Named).session ?? {}, req.params);
      res.end();
    });
    app.post('/', (req, res) => {
      const { session: own, sessionID } = req as Named;
      const payer = own?.who ?? sessionID ?? 'nobody';
      atTheEnd(req, () => res.send(payer));
    });
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    };
    const { url } = await serve(app.use(onError));
    return {
      start: async (who: string): Promise<string> =>
        ((await send(`${url}/start/${who}`)).headers['set-cookie'] ?? []).map(line => line.split(';', 1)[0]).join('; '),
      pay: async (cookie?: string): Promise<string> => {
        const headers = keyed('order-1', cookie === undefined ? {} : { Cookie: cookie });
        const { status, text } = await send(url, { headers });
        return status === 409 ? '409' : text;
      },
    };
  }

  /** Ann, Ben and Ann pay, with one key. */
  async function payments({ start, pay }: Awaited<ReturnType<typeof shop>>): Promise<readonly string[]> {
    const [ann, ben] = [await start('ann'), await start('ben')];
    return [await pay(`theme=dark; ${ann}`), await pay(ben), await pay(ann)];
  }

  describe('the response to a caller whose session is read after idempotency()', () => {
    it.each([...withId, ...withoutId])('is kept for no one: %s', async (_kind, make) => {
      expect(await payments(await shop(guard => [guard, make()]))).toEqual(['ann', '409', '409']);
    });

    it.each<[string, () => RequestHandler, AtTheEnd]>([
      ['ends it', expressSession, (req, done) => req.session.destroy(done)],
      ['renews it', expressSession, (req, done) => req.session.regenerate(done)],
      ['renews and ends it', expressSession, (req, done) => req.session.regenerate(() => req.session.destroy(done))],
      ['ends it', cookieSession, (req, done) => done(void Object.assign(req, { session: null }))],
      ['renews it', cookieSession, (req, done) => done(void Object.assign(req, { session: { who: 'x' } }))],
      ['takes its cookie away', expressSession, (req, done) => done(void delete req.headers.cookie)],
      ['takes its cookie away', withoutSession, (req, done) => done(void delete req.headers.cookie)],
      ['takes its cookie away', cookieSession, (req, done) => done(void delete req.headers.cookie)],
    ])('is kept for no one where the handler %s (%p)', async (_how, sessions, atTheEnd) => {
      expect(await payments(await shop(guard => [guard, sessions()], { atTheEnd }))).toEqual(['ann', '409', '409']);
    });

    it('is kept for no one where scope extends the default', async () => {
      const scope: IdempotencyOptions['scope'] = (_req, caller) => JSON.stringify([caller, 'tenant']);
      const sold = await shop(guard => [guard, expressSession()], { scope });
      expect(await payments(sold)).toEqual(['ann', '409', '409']);
    });

    it('is kept for its caller where scope tells callers apart', async () => {
      const scope: IdempotencyOptions['scope'] = req => /who=\w+/.exec(req.get('Cookie') ?? '')?.[0];
      const { start, pay } = await shop(guard => [guard, expressSession()], { scope });
      const [ann, ben] = [`${await start('ann')}; who=ann`, `${await start('ben')}; who=ben`];
      expect([await pay(ann), await pay(ben), await pay(ann)]).toEqual(['ann', 'ben', 'ann']);
    });
  });

  describe.each<[string, (guard: RequestHandler, sessions: RequestHandler) => readonly RequestHandler[]]>([
    ['before', (guard, sessions) => [sessions, guard]],
    ['after', (guard, sessions) => [guard, sessions]],
  ])('with sessions mounted %s it,', (_place, inOrder) => {
    it.each([...expressSessions, ...cookieSessions])(
      'a client without one is the same client: %s',
      async (_kind, make) => {
        const begin: AtTheEnd = (req, done) => done(void Object.assign((req as Named).session ?? {}, { who: 'new' }));
        const { pay } = await shop(guard => inOrder(guard, make()), { atTheEnd: begin });
        const [first, ...retries] = [await pay('_ga=1; theme=s'), await pay('theme=dark'), await pay()];
        expect(retries).toEqual([first, first]);
      },
    );
  });

  describe('with sessions mounted before it', () => {
    it.each(withId)('each caller has a response: %s', async (_kind, make) => {
      expect(await payments(await shop(guard => [make(), guard]))).toEqual(['ann', 'ben', 'ann']);
    });

    it.each(withoutId)('the caller of one without an id is asked for: %s', async (_kind, make) => {
      const asked = expect.stringMatching(/^idempotency: req\.session has no id .* Pass the `scope` option/);
      expect(await payments(await shop(guard => [make(), guard]))).toEqual([asked, asked, asked]);
    });

    it.each(withoutId)('scope tells callers of one without an id apart: %s', async (_kind, make) => {
      const scope: IdempotencyOptions['scope'] = req => (req as Named).session?.who;
      expect(await payments(await shop(guard => [make(), guard], { scope }))).toEqual(['ann', 'ben', 'ann']);
    });

    it('an empty session without an id is no one', async () => {
      const sessions: RequestHandler = (req, _res, next) => next(void Object.assign(req, { session: {} }));
      const { pay } = await shop(guard => [sessions, guard]);
      expect([await pay('_ga=1'), await pay('_ga=2')]).toEqual(['nobody', 'nobody']);
    });

    it('a session without an id is not asked for where authentication names the caller', async () => {
      const authenticate: RequestHandler = (req, _res, next) => {
        Object.assign(req, { user: { id: (req as Named).session?.who } });
        next();
      };
      const { start, pay } = await shop(guard => [cookieSession(), authenticate, guard]);
      const [ann, ben] = [await start('ann'), await start('ben')];
      expect([await pay(ann), await pay(ben), await pay(ann)]).toEqual(['ann', 'ben', 'ann']);
    });
  });
});
