import { bind, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';
import type { Request, RequestHandler } from 'express';
import { expressjwt } from 'express-jwt';
import { auth } from 'express-oauth2-jwt-bearer';
import { bool, dto, field, fromClaim, guid, hasPermission, int, string } from '../../../lib';
import type { BindingOptions, Claims } from '../../../lib';
import { hs256 } from '../../support/hs256';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';

const SECRET = 'a secret of no less than thirty-two bytes';
const ISSUER = 'https://issuer.example/';
const AUDIENCE = 'https://shop.example';

/** One way to know who calls: a middleware that establishes the principal, and what a caller with these claims sends. */
interface Means {
  readonly middleware: readonly RequestHandler[];
  readonly options?: BindingOptions;
  readonly headersOf: (claims: object) => Readonly<Record<string, string>>;
}

/** Passport has no types of its own. */
interface Passport {
  use(strategy: object): this;
  authenticate(name: string, options: { session: false }): RequestHandler;
}
interface Strategy {
  success(user: object): void;
  pass(): void;
}
const passport = jest.requireActual<{ Passport: new () => Passport; Strategy: new () => Strategy }>('passport');

/** Callers that are known by a number, as a session or an API key makes them known. */
const callers = new Map<string, object>();
function known(claims: object): string {
  const key = `key-${callers.size}`;
  callers.set(key, claims);
  return key;
}
class ApiKey extends passport.Strategy {
  readonly name = 'api-key';

  authenticate(req: Request): void {
    const user = callers.get(req.get('X-Api-Key') ?? '');
    if (user) this.success(user);
    else this.pass();
  }
}
const bearer = (claims: object): { Authorization: string } => ({ Authorization: `Bearer ${hs256(claims, SECRET)}` });
const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;

const means: readonly [name: string, Means][] = [
  [
    'passport',
    {
      middleware: [new passport.Passport().use(new ApiKey()).authenticate('api-key', { session: false })],
      headersOf: claims => ({ 'X-Api-Key': known(claims) }),
    },
  ],
  [
    'express-jwt',
    {
      middleware: [expressjwt({ secret: SECRET, algorithms: ['HS256'], credentialsRequired: false }) as RequestHandler],
      headersOf: bearer,
    },
  ],
  [
    'express-oauth2-jwt-bearer',
    {
      middleware: [
        auth({ issuer: ISSUER, audience: AUDIENCE, secret: SECRET, tokenSigningAlg: 'HS256', authRequired: false }),
      ],
      headersOf: claims => bearer({ iss: ISSUER, aud: AUDIENCE, exp: inAnHour, ...claims }),
    },
  ],
  [
    "a resolver of the application's own",
    {
      middleware: [],
      options: { claims: req => callers.get(req.get('X-Session') ?? '') as Claims | undefined },
      headersOf: claims => ({ 'X-Session': known(claims) }),
    },
  ],
];

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
class Caller extends dto({
  userId: fromClaim(guid, { name: 'sub' }),
  level: fromClaim(int),
  trusted: fromClaim(bool, { name: 'https://shop.example/trusted' }),
  mayWrite: hasPermission('orders:write'),
  mayPurge: hasPermission('orders:purge', { required: false }),
}) {}

const claims = {
  sub: ID,
  level: 3,
  'https://shop.example/trusted': true,
  permissions: ['orders:read', 'orders:write'],
};

describe.each(expressVersions)('%s', (_version, framework) => {
  describe.each(means)('behind %s', (_name, { middleware, options: own, headersOf }) => {
    /** Sends a request as a caller with these claims, or as nobody. */
    const as = (who: object | undefined, Dto: new () => object, sent: Sent = {}, options: EndpointOptions = {}) => {
      const headers = { ...sent.headers, ...(who && headersOf(who)) };
      return bind(Dto, { ...sent, headers }, { framework, before: middleware, ...own, ...options });
    };

    it('claims and permissions of the caller are bound', async () => {
      const { dto: bound } = await as(claims, Caller, {}, { allowAnonymous: false });
      expect(bound).toEqual({ userId: ID, level: 3, trusted: true, mayWrite: true, mayPurge: false });
      expect(bound).toBeInstanceOf(Caller);
    });

    it('everything that the caller lacks is listed in one validation error', async () => {
      const { status, errors } = await as({ level: 'x', scope: 'orders:read' }, Caller);
      expect([status, errors.map(({ name, in: source }) => `${source} ${name}`).sort()]).toEqual([
        400,
        ['claim https://shop.example/trusted', 'claim level', 'claim sub', 'permission orders:write'],
      ]);
    });

    it('allowAnonymous: false refuses every anonymous request with 401, which says how to authenticate', async () => {
      for (const sent of [{}, { json: claims }, { json: '{' }, { path: `/?sub=${ID}&permissions=orders:write` }]) {
        const { status, problem, response, dto: bound } = await as(undefined, Caller, sent, { allowAnonymous: false });
        const refusal = [401, 'urn:bindonce:unauthenticated', 'Bearer', undefined];
        expect([status, problem?.type, response.headers['www-authenticate'], bound]).toEqual(refusal);
      }
    });
  });
});

describe('a client sets no required claim and no permission through', () => {
  const everything = {
    ...{ userId: ID, sub: ID, level: '9', mayWrite: 'true', mayPurge: 'true' },
    ...{ 'orders:write': 'true', 'orders:purge': 'true' },
    ...{ permissions: 'orders:write orders:purge', scope: 'orders:write orders:purge' },
  };
  const pairs = Object.entries(everything);
  const nested = JSON.stringify({ user: everything, auth: { ...everything, payload: everything } });
  const query = new URLSearchParams(everything).toString();
  const cookie = pairs.map(pair => pair.map(encodeURIComponent).join('=')).join('; ');

  it.each<[string, Sent]>([
    ['the JSON body', { json: { ...everything, permissions: ['orders:write', 'orders:purge'], mayWrite: true } }],
    ['a JSON body that looks like a request', { json: nested }],
    ['inherited JSON', { json: `{"__proto__":${nested},"constructor":{"prototype":${nested}}}` }],
    ['the query', { path: `/?${query}&user[sub]=${ID}&auth.payload.sub=${ID}&__proto__[sub]=${ID}` }],
    ['a form', { form: [...pairs, ['user[sub]', ID], ['__proto__[sub]', ID]] }],
    ['a multipart form', { multipart: pairs }],
    ['headers', { headers: Object.fromEntries(pairs.filter(([name]) => /^[\w-]+$/.test(name))) }],
    ['cookies', { headers: { Cookie: cookie } }],
    ['the route', { path: `/${ID}/9/true` }],
  ])('%s', async (_source, sent) => {
    class Guarded extends dto({
      userId: fromClaim(guid, { name: 'sub' }),
      level: fromClaim(int),
      mayWrite: hasPermission('orders:write'),
      mayPurge: hasPermission('orders:purge', { required: false }),
      note: field(string, { required: false }),
    }) {}
    const options = { ...urlEncoded, route: /^\/(?<userId>[^/]*)\/?(?<level>[^/]*)\/?(?<mayPurge>[^/]*)$/ };
    const { errors } = await bind(Guarded, sent, options);
    const missing = ['claim level', 'claim sub', 'permission orders:write'];
    expect(errors.map(one => `${one.in} ${one.name}`).sort()).toEqual(missing);
    const user = { sub: ID, level: 1, permissions: ['orders:write'] };
    const bound = { userId: ID, level: 1, mayWrite: true, mayPurge: false };
    expect((await bind(Guarded, sent, { ...options, user })).dto).toEqual(bound);
  });
});
