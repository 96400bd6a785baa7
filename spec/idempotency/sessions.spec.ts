import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import session, { type SessionOptions } from 'express-session';
import type { IdempotencyOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { guarded } from '../support/guarded';

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

type Named = Request & { session?: { who?: string } | null; sessionID?: string };

/** A middleware that finds the session itself, in a cookie `token`. */
const own =
  (found: (who: string) => object): RequestHandler =>
  (req, res, next) => {
    const who = /token=(\w+)/.exec(req.get('Cookie') ?? '')?.[1];
    next(void (who ? Object.assign(req, found(who)) : res.cookie('token', req.path.slice('/start/'.length))));
  };

class OwnStore extends session.MemoryStore {}
const ofItsOwn = { store: new OwnStore(), genid: () => `shop/${randomUUID()} é`, name: 'shop.sid' };

type Kind = [title: string, make: () => RequestHandler];
const expressSessions: Kind[] = [
  ['express-session', expressSession],
  ['express-session with a store, ids and a name of its own', () => expressSession(ofItsOwn)],
  ['express-session that saves every session', () => expressSession({ saveUninitialized: true })],
];
const cookieSessions: Kind[] = [
  ['cookie-session', cookieSession],
  ['cookie-session without a signature, with a name of its own', () => cookieSession({ signed: false, name: 'shop' })],
];
const withoutSession = (): RequestHandler => own(who => ({ sessionID: who }));
const withId: Kind[] = [...expressSessions, ['an id without a session', withoutSession]];
const withoutId: Kind[] = [...cookieSessions, ['a session without an id', () => own(who => ({ session: { who } }))]];

type Done = (done?: unknown) => void;
type AtTheEnd = (req: Request, done: Done) => void;
const setSession =
  (own: object | null): AtTheEnd =>
  (req, done) =>
    done(void Object.assign(req, { session: own }));
const dropCookie: AtTheEnd = (req, done) => done(void delete req.headers.cookie);

const inCookie: IdempotencyOptions['scope'] = req => /who=\w+/.exec(req.get('Cookie') ?? '')?.[0];
const inSession: IdempotencyOptions['scope'] = req => (req as Named).session?.who;
const [each, once] = [
  ['ann', 'ben', 'ann'],
  ['ann', '409', '409'],
];

describe.each(expressVersions)('%s:', (_version, version) => {
  /** A shop where `/start/ann` begins the session of Ann, and `/` says who pays. */
  async function shop(
    around: { readonly before?: readonly RequestHandler[]; readonly behind?: readonly RequestHandler[] },
    scope?: IdempotencyOptions['scope'],
    atTheEnd: AtTheEnd = (_req, done) => done(),
  ) {
    const { app, post } = await guarded(
      { whenKeyMissing: 'run', scope },
      (req: Named, res) => {
        const { session: found, sessionID, path } = req;
        if (path.startsWith('/start/')) return res.end(void Object.assign(found ?? {}, { who: path.slice(7) }));
        return atTheEnd(req, () => res.send(found?.who ?? sessionID ?? 'nobody'));
      },
      { version, ...around },
    );
    app.use(((error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    }) as ErrorRequestHandler);
    return {
      start: async (who: string): Promise<string> =>
        ((await post({ key: '', path: `/start/${who}` })).headers['set-cookie'] ?? [])
          .map(line => line.split(';', 1)[0])
          .join('; '),
      pay: async (cookie?: string): Promise<string> => {
        const { status, text } = await post({ headers: cookie === undefined ? {} : { Cookie: cookie } });
        return status === 409 ? '409' : text;
      },
    };
  }

  /** Ann, Ben and Ann pay, with one key. */
  async function payments(...given: Parameters<typeof shop>): Promise<readonly string[]> {
    const { start, pay } = await shop(...given);
    const [ann, ben] = [`${await start('ann')}; who=ann`, `${await start('ben')}; who=ben`];
    return [await pay(`theme=dark; ${ann}`), await pay(ben), await pay(ann)];
  }

  describe('the response to a caller whose session is read after idempotency()', () => {
    it.each([...withId, ...withoutId])('is kept for no one: %s', async (_kind, make) => {
      expect(await payments({ behind: [make()] })).toEqual(once);
    });

    it.each<[string, AtTheEnd, ...(() => RequestHandler)[]]>([
      ['ends it', (req, done) => req.session.destroy(done), expressSession],
      ['renews it', (req, done) => req.session.regenerate(done), expressSession],
      ['renews and ends it', (req, done) => req.session.regenerate(() => req.session.destroy(done)), expressSession],
      ['sets it to null', setSession(null), cookieSession],
      ['sets it anew', setSession({ who: 'x' }), cookieSession],
      ['takes its cookie away', dropCookie, expressSession, withoutSession, cookieSession],
    ])('is kept for no one where the handler %s', async (_how, atTheEnd, ...kinds) => {
      for (const make of kinds) expect(await payments({ behind: [make()] }, undefined, atTheEnd)).toEqual(once);
    });

    it('is kept for no one where scope extends the default, and for its caller where scope tells callers apart', async () => {
      const extended: IdempotencyOptions['scope'] = (_req, caller) => JSON.stringify([caller, 'tenant']);
      expect(await payments({ behind: [expressSession()] }, extended)).toEqual(once);
      expect(await payments({ behind: [expressSession()] }, inCookie)).toEqual(each);
    });
  });

  it.each([...expressSessions, ...cookieSessions])(
    'with sessions mounted before it or after it, a client without one is the same client: %s',
    async (_kind, make) => {
      const begin: AtTheEnd = (req, done) => done(void Object.assign((req as Named).session ?? {}, { who: 'new' }));
      for (const place of ['before', 'behind']) {
        const { pay } = await shop({ [place]: [make()] }, undefined, begin);
        const [first, ...retries] = [await pay('_ga=1; theme=s'), await pay('theme=dark'), await pay()];
        expect(retries).toEqual([first, first]);
      }
    },
  );

  describe('with sessions mounted before it', () => {
    it.each(withId)('each caller has a response: %s', async (_kind, make) => {
      expect(await payments({ before: [make()] })).toEqual(each);
    });

    it.each(withoutId)(
      'the caller of one without an id is asked for, unless scope tells callers apart: %s',
      async (_kind, make) => {
        const asked = expect.stringMatching(
          /^idempotency: req\.session has no id .* Pass the `scope` option/,
        ) as string;
        expect(await payments({ before: [make()] })).toEqual([asked, asked, asked]);
        expect(await payments({ before: [make()] }, inSession)).toEqual(each);
      },
    );

    it('an empty session without an id is no one', async () => {
      const sessions: RequestHandler = (req, _res, next) => next(void Object.assign(req, { session: {} }));
      const { pay } = await shop({ before: [sessions] });
      expect([await pay('_ga=1'), await pay('_ga=2')]).toEqual(['nobody', 'nobody']);
    });

    it('a session without an id is not asked for where authentication names the caller', async () => {
      const authenticate: RequestHandler = (req: Named, _res, next) =>
        next(void Object.assign(req, { user: { id: req.session?.who } }));
      expect(await payments({ before: [cookieSession(), authenticate] })).toEqual(each);
    });
  });
});
