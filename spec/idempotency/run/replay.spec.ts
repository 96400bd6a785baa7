import compression from 'compression';
import express, { type Request } from 'express';
import session from 'express-session';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

describe('the replay of a login behind a session that sets its cookie at the end', () => {
  const login = async (guard: ReturnType<typeof idempotency>, forgets = false) => {
    let runs = 0;
    const app = express().use(session({ secret: 's', resave: false, saveUninitialized: false }));
    app.post('/', guard, (req: Request & { session?: { user?: string } }, res) => {
      runs++;
      if (req.session) req.session.user = 'ada';
      if (forgets) req.idempotency.forget();
      res.json({ welcome: true });
    });
    const { url } = await serve(app);
    const [first, retry] = [await send(url, { headers: keyed('k') }), await send(url, { headers: keyed('k') })];
    return {
      first,
      retry,
      cookies: [first, retry].map(({ headers }) => headers['set-cookie']?.length ?? 0),
      runs: () => runs,
    };
  };

  it('has no cookie: that header belongs to the session', async () => {
    const { retry, cookies, runs } = await login(idempotency({ scope: () => 'all' }));
    expect([cookies, retry.headers['idempotent-replayed'], runs()]).toEqual([[1, 0], 'true', 1]);
  });
});

describe('a replay to a client that accepts something else', () => {
  const served = async (guard: ReturnType<typeof idempotency>, before: boolean) => {
    const app = express();
    const pack = compression({ threshold: 0 });
    app.post(
      '/',
      ...(before ? [pack, guard] : [guard, pack]),
      (req, res) => void res.type('text').send(req.acceptsLanguages('de') === 'de' ? 'Guten Tag' : 'Good day'),
    );
    const { url } = await serve(app);
    return (language: string, coding: string): Promise<WireResponse> =>
      send(url, { headers: keyed('k', { 'Accept-Language': language, 'Accept-Encoding': coding }) });
  };

  it('is the stored answer, compressed and translated as it was', async () => {
    const ask = await served(idempotency(), false);
    await ask('de', 'gzip');
    const replay = await ask('en', 'identity');
    expect([replay.headers['content-encoding'], replay.headers['idempotent-replayed']]).toEqual(['gzip', 'true']);
  });

  it('is one that it accepts, with compression in front and the deciding headers in the key', async () => {
    const ask = await served(idempotency({ additionalHeaders: ['Accept', 'Accept-Language', 'Range'] }), true);
    await ask('de', 'gzip');
    const [plain, other] = [await ask('de', 'identity'), await ask('en', 'identity')];
    expect([plain.text, plain.headers['idempotent-replayed'], plain.headers['content-encoding']]).toEqual([
      'Guten Tag',
      'true',
      undefined,
    ]);
    expect([other.text, other.headers['idempotent-replayed']]).toEqual(['Good day', undefined]);
  });
});
