import type { RequestHandler } from 'express';
import {
  bindRequest,
  configure,
  dto,
  idempotency,
  optional,
  string,
  type IdempotencyMiddleware,
  type IdempotencyOptions,
} from '../../../lib';
import { warned } from '../../../lib/warnings/warn-once';
import { allDifferent, countingService, runsOf } from '../../support/counting-service';
import type { Around, Keyed as Asked } from '../../support/guarded';
import { EventLog } from '../../support/event-log';

/** What an authentication middleware leaves on the request. */
type Left = Readonly<Record<string, unknown>>;
type Scope = IdempotencyOptions['scope'];

/** An id that is private, and can be read as text only; as bson makes it, it writes itself as JSON, too. */
class TextId {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}
class HexId extends TextId {
  toJSON(): string {
    return this.toString();
  }
}

/** An object of which an id can be seen by its class only. */
class Opaque {
  readonly type = 'user';
  readonly #id: string;
  constructor(id: string) {
    this.#id = id;
  }
  greet(): string {
    return `Hello ${this.#id}`;
  }
}

class Tagged {
  readonly [Symbol.toStringTag] = 'User';
}

const having = (...headers: Record<string, string>[]): Asked[] => headers.map(one => ({ headers: one }));

const leave =
  (left: object): RequestHandler =>
  (req, _res, next) =>
    next(void Object.assign(req, left));

/** Requests have these callers in turn. */
function leaving(...callers: readonly Left[]): Around {
  let next = 0;
  return { before: [(req, res, done) => leave(callers[next++ % callers.length] ?? {})(req, res, done)] };
}

let emitWarning: jest.SpyInstance;
beforeEach(() => {
  warned.clear();
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => emitWarning.mockRestore());
const warnings = (): unknown[] => emitWarning.mock.calls.map(([, options]) => (options as { code?: string }).code);

describe('by default, a response is not shared where the callers have another', () => {
  it.each<[string, Left, Left]>([
    ['userId', { auth: { userId: 'a' } }, { auth: { userId: 'b' } }],
    ['uid', { user: { uid: 'a' } }, { user: { uid: 'b' } }],
    ['_id', { user: { _id: new HexId('0a') } }, { user: { _id: new HexId('0b') } }],
    ['id that is a bigint', { user: { id: 9007199254740993n } }, { user: { id: 9007199254740992n } }],
    ['id of bytes that are not UTF-8', { user: { id: Buffer.from([0xff]) } }, { user: { id: Buffer.from([0xfe]) } }],
    ['id that writes itself as text', { user: { id: new TextId('a') } }, { user: { id: new TextId('b') } }],
    ['second id, beside an equal first one', { user: { sub: 'app', uid: 'a' } }, { user: { sub: 'app', uid: 'b' } }],
    ['name of the id', { user: { sub: '1' } }, { user: { id: '1' } }],
    ['place', { user: { id: '1' } }, { auth: { id: '1' } }],
    ['text as req.user', { user: 'ann' }, { user: 'bob' }],
    ['issuer', { user: { iss: 'a', sub: '1' } }, { user: { iss: 'b', sub: '1' } }],
    ['provider', { user: { id: 1, provider: 'google' } }, { user: { id: 1, provider: 'github' } }],
    ['tenantId', { user: { id: 1, tenantId: 'acme' } }, { user: { id: 1, tenantId: 'globex' } }],
    ['tid', { auth: { sub: 'u', tid: 'a' } }, { auth: { sub: 'u', tid: 'b' } }],
    ['user behind one gateway', { auth: { sub: 'g' }, user: { id: 1 } }, { auth: { sub: 'g' }, user: { id: 2 } }],
    ['caller at all', { user: { id: 1 } }, {}],
  ])('%s', async (_what, one, other) => {
    expect(await runsOf([{}, {}], {}, leaving(one, other))).toBe('1 2');
  });
});

describe('by default, a response is shared where', () => {
  it.each<[string, Left, Left]>([
    ['the token was refreshed', { auth: { sub: 'a', exp: 2, jti: 'x' } }, { auth: { sub: 'a', exp: 6, jti: 'y' } }],
    ['an id is a number once and text once', { user: { id: 7 } }, { user: { id: '7' } }],
    ['the same caller has more claims', { user: { id: 1 } }, { user: { id: '1', name: 'Ann' } }],
    ['there is no caller', { user: undefined }, { auth: null, user: false }],
    ['a caller is signed out', { auth: () => ({ userId: null, isAuthenticated: false }) }, {}],
  ])('%s', async (_what, one, other) => {
    expect(await runsOf([{}, {}], {}, leaving(one, other))).toBe('1 1');
  });
});

it('by default, a response is shared where the header of a gateway has changed, and the caller has not', async () => {
  const requests = ['Bearer 1', 'Bearer 2'].map(Authorization => ({ headers: { Authorization } }));
  expect(await runsOf(requests, {}, leaving({ user: { userId: 'a' } }))).toBe('1 1');
});

describe('by default, the application is told to pass scope, and nothing runs, where a caller is', () => {
  const asObject = { toJSON: () => ({ balance: 3 }), toString: () => 'acme, balance 3' };
  it.each<[string, Left, string]>([
    ['an array', { user: [{ id: 1 }] }, 'req.user'],
    ['named, and its id null', { user: { id: null, name: 'Ann' } }, 'req.user'],
    ['signed out, and says so by null only', { auth: { userId: null, sessionId: null } }, 'req.auth'],
    ['a token without a payload', { auth: { payload: null, token: 'abc' } }, 'req.auth'],
    ['NaN', { user: NaN }, 'req.user'],
    ['a function in req.user', { user: () => ({ id: 1 }) }, 'req.user'],
    ['a promise that is rejected', { auth: () => Promise.reject(new Error('no directory')) }, 'req.auth'],
    ['an empty object', { user: {} }, 'req.user'],
    ['an object without an id', { user: { email: 'ann@example.com', roles: [] } }, 'req.user'],
    ['an instance with a private id', { user: new Opaque('a') }, 'req.user'],
    ['a verified token without an id', { auth: { payload: {}, header: {}, token: 't' }, user: { id: 1 } }, 'req.auth'],
    ['of an id that is NaN', { user: { id: NaN } }, 'req.user.id'],
    ['of an id that is a plain object', { user: { id: { $oid: 'a' } } }, 'req.user.id'],
    ['of an id that only says its kind', { user: { id: new Tagged() } }, 'req.user.id'],
    ['of an id that is a method', { user: { id: () => 1 } }, 'req.user.id'],
    ['of a second id that cannot be read', { user: { sub: 'a', _id: {} } }, 'req.user._id'],
    ['of a tenant that cannot be read', { user: { id: 1, tenant: { name: 'acme' } } }, 'req.user.tenant'],
    ['of a tenant that writes itself as an object', { user: { id: 1, tenant: asObject } }, 'req.user.tenant'],
  ])('%s', async (_what, caller, place) => {
    const { answerTo, runs } = await countingService({}, leaving(caller));
    const told = `idempotency: ${place} is set, but bindonce cannot read an id from it `;
    const answer = await answerTo({});
    expect([answer.startsWith(told), answer.endsWith(' Pass the `scope` option.'), runs()]).toEqual([true, true, 0]);
  });
});

describe('scope', () => {
  const tenant: Scope = (req, caller) => JSON.stringify([caller, req.get('X-Tenant')]);
  const acme = { 'X-Tenant': 'acme' };

  it('adds to the default that it gets', async () => {
    const around = leaving({ user: { id: 1 } }, { user: { id: 2 } }, { user: { id: 1 } }, {}, {});
    const requests = having(acme, acme, { 'X-Tenant': 'globex' }, acme, { ...acme, Authorization: 'Bearer a' });
    expect(await runsOf(requests, { scope: tenant }, around)).toBe('1 2 3 4 5');
  });

  it.each<[string, () => unknown, string]>([
    ['an ObjectId', () => new HexId('0a'), 'a value of type object'],
    // Jest fails a test during which a rejection is left unhandled.
    ['a promise that is rejected', () => Promise.reject(new Error('The database is down')), 'a promise'],
    ['a bigint', () => 1n, 'a value of type bigint'],
    ['an array', () => ['a'], 'a value of type object'],
  ])('that returns %s is an error, and nothing runs', async (_what, scope, called) => {
    const { answerTo, runs } = await countingService({ scope: scope as Scope });
    expect(await answerTo({})).toContain(`idempotency: scope must return text or undefined, not ${called}.`);
    expect(runs()).toBe(0);
  });

  it('that returns undefined means everyone, and another text another caller, the empty one too', async () => {
    const requests = having({}, { 'X-Tenant': '' }, acme, {}, { Authorization: 'Bearer a' });
    expect(await runsOf(requests, { scope: req => req.get('X-Tenant') })).toBe('1 2 3 1 1');
  });
});

describe('a caller that appears behind the guard', () => {
  const userOf = (req: object) => (req as { user?: { sub: string } }).user;
  const tooLate = (): never => {
    throw new Error('too late');
  };
  it.each<[string, RequestHandler[], object]>([
    ['as req.user', [], { user: { id: 1 } }],
    ['as req.auth', [], { auth: { sub: 'a' } }],
    ['as a function', [], { auth: () => ({ userId: 'a' }) }],
    ['beside another one', [leave({ auth: { sub: 'gateway' } })], { user: { id: 1 } }],
    ['instead of another one', [leave({ user: { id: 1 } })], { user: { id: 2 } }],
  ])('%s, gets its answer, which is never replayed; the process is warned once', async (_how, before, left) => {
    const log = new EventLog();
    const { answersTo } = await countingService({ onEvent: log.onEvent }, { before, behind: [leave(left)] });
    expect(await answersTo([{}, {}, {}])).toEqual(['1', '409', '409']);
    expect(log.kinds).toEqual(['not-stored', 'unavailable', 'unavailable']);
    expect(warnings()).toEqual(['BINDONCE_MOUNTED_BEFORE_AUTHENTICATION']);
  });

  it.each<[string, IdempotencyMiddleware]>([
    ['of configure()', configure({ binding: { claims: userOf } }).idempotency()],
    ['by an own scope', idempotency({ scope: req => userOf(req)?.sub })],
    ['where an own scope cannot be asked again', idempotency({ scope: req => (userOf(req) ? tooLate() : 'a') })],
  ])('%s, is one, too', async (_how, guard) => {
    const { answersTo } = await countingService(guard, { behind: [leave({ user: { sub: 'a' } })] });
    expect(await answersTo([{}, {}])).toEqual(['1', '409']);
  });

  it('and is refused there, stores nothing', async () => {
    let isKnown = false;
    const authenticate: RequestHandler = (req, _res, next) =>
      next(void (isKnown && Object.assign(req, { user: { id: 1 } })));
    const { idempotency: guard, bindRequest: bind } = configure({ binding: { allowAnonymous: false } });
    const behind = [authenticate, bind(dto({ a: optional(string) })) as typeof bindRequest & RequestHandler];
    const { answerTo } = await countingService(guard(), { behind });
    expect(await answerTo({})).toBe('401');
    isKnown = true;
    expect(await answerTo({})).toBe('1');
  });
});

describe('cookies that nothing explains', () => {
  it('cause a warning, once', async () => {
    const { answersTo } = await countingService();
    expect(await answersTo(having({}, { Authorization: 'Bearer a', Cookie: 'a=1' }))).toEqual(['1', '2']);
    expect(warnings()).toEqual([]);
    expect(await answersTo(having({ Cookie: 'a=1' }, { Cookie: 'b=1' }))).toEqual(['1', '1']);
    expect(warnings()).toEqual(['BINDONCE_COOKIE_ONLY']);
  });

  it('are named by the header of a gateway, if there is one, which tells no callers apart either', async () => {
    const [ann, ben] = ['ann', 'ben'].map(name => ({ 'X-Forwarded-User': name, Cookie: 'a=1' }));
    const { answersTo } = await countingService();
    const answers = await answersTo(having({ ...ann, Authorization: 'Bearer a' }, ann ?? {}, ben ?? {}));
    expect([answers, warnings()]).toEqual([['1', '2', '2'], ['BINDONCE_HEADER_ONLY']]);
    expect(String(emitWarning.mock.calls[0]?.[0])).toContain("`scope: req => req.get('x-forwarded-user')`");
  });
});

it('a response to a request without a caller is not shared where the request has another Authorization or X-Api-Key', async () => {
  const authorizations = ['Bearer a', 'Bearer b', '', 'a', 'id:1', 'Basic gateway'];
  const keys = ['a', 'b'].map(key => ({ 'X-Api-Key': key }));
  const requests = having({}, ...authorizations.map(Authorization => ({ Authorization })), ...keys);
  requests.push(...having(...keys.map(key => ({ Authorization: 'Basic gateway', ...key }))));
  expect(await runsOf(requests)).toBe(allDifferent(requests));
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
  const { answersTo, runs } = await countingService();
  const told = /^idempotency: the Authorization scheme "[\w-]+" signs each request, .* or pass the `scope` option\.$/;
  expect([await answersTo(having({ Authorization })), runs()]).toEqual([[expect.stringMatching(told)], 0]);
});
