import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import session from 'express-session';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

let emitWarning: jest.SpyInstance;
beforeEach(() => {
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => {
  emitWarning.mockRestore();
});
const warnings = (): unknown[] => emitWarning.mock.calls.map(([, options]) => (options as { code?: string }).code);

/** The answers to requests with these headers: the number of the run, or the message of the error. */
async function answersTo(requests: readonly Record<string, string>[], ...before: RequestHandler[]): Promise<string[]> {
  let runs = 0;
  const app = express()
    .set('env', 'test')
    .post('/', ...before, idempotency(), (_req, res) => {
      res.send(String(++runs));
    });
  const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(500).end(error.message);
  };
  app.use(onError);
  const { url } = await serve(app);
  const answers: string[] = [];
  for (const headers of requests) answers.push((await send(url, { headers: keyed('k', headers) })).text);
  return answers;
}

describe('cookies that nothing explains', () => {
  it('cause a warning, once', async () => {
    expect(await answersTo([{}, { Authorization: 'Bearer a', Cookie: 'a=1' }])).toEqual(['1', '2']);
    expect(warnings()).toEqual([]);
    expect(await answersTo([{ Cookie: 'a=1' }, { Cookie: 'b=1' }])).toEqual(['1', '1']);
    expect(warnings()).toEqual(['BINDONCE_COOKIE_ONLY']);
  });

  it('are named by the header of a gateway, if there is one, which tells no callers apart either', async () => {
    const [ann, ben] = ['ann', 'ben'].map(name => ({ 'X-Forwarded-User': name, Cookie: 'a=1' }));
    expect(await answersTo([{ ...ann, Authorization: 'Bearer a' }, ann ?? {}, ben ?? {}])).toEqual(['1', '2', '2']);
    expect(warnings()).toEqual(['BINDONCE_HEADER_ONLY']);
    expect(String(emitWarning.mock.calls[0]?.[0])).toContain("`scope: req => req.get('x-forwarded-user')`");
  });
});

describe('a response to a request without a caller is not shared where the request has another', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['Authorization', { Authorization: 'Bearer a' }, { Authorization: 'Bearer b' }],
    ['Authorization, or none', { Authorization: '' }, {}],
    ['X-Api-Key', { 'X-Api-Key': 'a' }, { 'X-Api-Key': 'b' }],
    [
      'X-Api-Key beside one Authorization',
      { Authorization: 'Basic gateway', 'X-Api-Key': 'a' },
      { Authorization: 'Basic gateway', 'X-Api-Key': 'b' },
    ],
    ['header for one value', { Authorization: 'a' }, { 'X-Api-Key': 'a' }],
  ])('%s', async (_what, one, other) => {
    expect(await answersTo([one, other, one, other])).toEqual(['1', '2', '1', '2']);
  });
});

it.each([
  'AWS4-HMAC-SHA256 Credential=a/20261122/eu/s3/aws4_request, Signature=1',
  'Digest username="a", nc=00000001',
  'OAuth oauth_nonce="1"',
  'Hawk id="a", nonce="1"',
  'HMAC a:1',
  'HMAC-SHA256 Signature=1',
  'Signature keyId="a"',
  'Negotiate YII',
  'NTLM TlR',
  'digest username="a"',
])('%s is an error that says to pass scope', async Authorization => {
  const [answer] = await answersTo([{ Authorization }]);
  expect(answer).toMatch(
    /^idempotency: the Authorization scheme "[\w-]+" signs each request, .* or pass the `scope` option\.$/,
  );
});

it.each(['Bearer Digest', 'OAuthish a', 'Signatures a'])(
  '%s is not taken for a scheme that signs each request',
  async Authorization => {
    expect(await answersTo([{ Authorization }, { Authorization }])).toEqual(['1', '1']);
  },
);

describe.each(expressVersions)('behind express-session, %s,', (_version, version) => {
  /** A service where a session is made by `/start`, and orders do not look at it. */
  async function shop(saveUninitialized: boolean) {
    let runs = 0;
    const app = version().use(session({ secret: 's', resave: false, saveUninitialized }));
    app.post('/start', (req, res) => {
      Object.assign(req.session, { started: true });
      res.end();
    });
    app.post('/', idempotency(), (_req, res) => {
      res.send(String(++runs));
    });
    const { url } = await serve(app);
    return {
      start: async () => (await send(`${url}/start`)).headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '',
      order: async (...cookies: string[]) =>
        (await send(url, { headers: keyed('k', cookies.length > 0 ? { Cookie: cookies.join('; ') } : {}) })).text,
    };
  }

  it('clients share with themselves and not with each other', async () => {
    const { start, order } = await shop(false);
    const [ann, bob] = [await start(), await start()];
    expect([await order(ann), await order(bob), await order('theme=dark', ann), await order(bob)]).toEqual([
      '1',
      '2',
      '1',
      '2',
    ]);
  });

  it.each([true, false])(
    'a client without a session, but with other cookies, is the same client when it tries again (saveUninitialized: %s)',
    async saveUninitialized => {
      const { order } = await shop(saveUninitialized);
      expect([await order('_ga=1'), await order('_ga=1'), await order()]).toEqual(['1', '1', '1']);
    },
  );
});

it('a session of another kind counts where the client has sent a cookie', async () => {
  const sessions: RequestHandler = (req, _res, next) => {
    Object.assign(req, { sessionID: req.get('X-Sid') });
    next();
  };
  const from = (sid: string, Cookie?: string): Record<string, string> => ({
    'X-Sid': sid,
    ...(Cookie !== undefined && { Cookie }),
  });
  expect(
    await answersTo([from('a', 'x=1'), from('b', 'x=1'), from('a', 'x=1'), from('c'), from('d')], sessions),
  ).toEqual(['1', '2', '1', '3', '3']);
});
