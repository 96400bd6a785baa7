import express, { type ErrorRequestHandler } from 'express';
import { configure, idempotency } from '../../../lib';
import { send } from '../../servers/listen';
import { serve } from '../serve';
import { keyed } from '../wire';

/** What an authentication middleware leaves on the request. */
type Caller = Readonly<Record<string, unknown>>;

/** Ids as databases make them: nothing of them is in a property that can be listed, and they write themselves. */
class HexId {
  readonly #hex: string;
  constructor(hex: string) { this.#hex = hex; }
  toHexString(): string { return this.#hex; }
  toString(): string { return this.#hex; }
  toJSON(): string { return this.#hex; }
}

const BYTES = Symbol('bytes');
class BytesId {
  readonly [BYTES]: Buffer;
  constructor(text: string) { this[BYTES] = Buffer.from(text); }
  toString(): string { return this[BYTES].toString('hex'); }
}

class JsonId {
  readonly #hex: string;
  constructor(hex: string) { this.#hex = hex; }
  toJSON(): object { return { $oid: this.#hex }; }
}

/** A user of whom only its class can see something. */
class Hidden {
  readonly #name: string;
  constructor(name: string) { this.#name = name; }
  greet(): string { return `Hello ${this.#name}`; }
}

const ids: [title: string, idOf: (text: string) => unknown][] = [
  ['with toString, toJSON and toHexString over a private field', text => new HexId(text)],
  ['with toString over a symbol', text => new BytesId(text)],
  ['with toJSON that gives an object', text => new JsonId(text)],
  ['with a toString of its own', text => ({ toString: () => text })],
];

async function runsOf(...callers: readonly Caller[]): Promise<number> {
  let runs = 0;
  let next = 0;
  const app = express().use((req, _res, done) => { Object.assign(req, callers[next++]); done(); }).post('/', idempotency(), (_req, res) => { res.json({ run: ++runs }); });
  const { url } = await serve(app);
  for (let request = 0; request < callers.length; request++) expect((await send(url, { headers: keyed('k') })).status).toBe(200);
  return runs;
}

class Org { constructor(readonly name: string) {} toString(): string { return 'Org'; } }
const bare = (claims: object): object => Object.assign(Object.create(null) as object, claims);

describe('by default, a response', () => {
  it.each<[string, Caller, Caller]>([
    ['sub in req.auth.payload', { auth: { payload: { sub: 'a' } } }, { auth: { payload: { sub: 'b' } } }],
    ['sub in req.auth', { auth: { sub: 'a' } }, { auth: { sub: 'b' } }],
    ['sub in req.user', { user: { sub: 'a' } }, { user: { sub: 'b' } }],
    ['id in req.user', { user: { id: 1 } }, { user: { id: 2 } }],
    ['issuer of one sub', { user: { iss: 'a', sub: '1' } }, { user: { iss: 'b', sub: '1' } }],
    ['kind of id', { user: { sub: '1' } }, { user: { id: '1' } }],
    ['big id in req.user', { user: { id: 9007199254740993n } }, { user: { id: 9007199254740992n } }],
    ['text as req.user', { user: 'ann' }, { user: 'bob' }],
    ['number as req.user', { user: 1 }, { user: 2 }],
    ['id in req.user, beside an empty req.auth', { auth: {}, user: { id: 1 } }, { auth: {}, user: { id: 2 } }],
    ['name in req.user, which has no id', { user: { name: 'a' } }, { user: { name: 'b' } }],
    ['name in req.user, which always writes itself alike', { user: new Org('a') }, { user: new Org('b') }],
    ['claim that always writes itself alike', { user: { org: new Org('a') } }, { user: { org: new Org('b') } }],
    ['id that always writes itself alike', { user: { id: new Org('a') } }, { user: { id: new Org('b') } }],
    ['name in req.user, which has a toString of its own', { user: { name: 'a', toString: () => 'user' } }, { user: { name: 'b', toString: () => 'user' } }],
    ['name in req.user, which has no prototype', { user: bare({ name: 'a' }) }, { user: bare({ name: 'b' }) }],
    ['claim that has no prototype', { user: { org: bare({ name: 'a' }) } }, { user: { org: bare({ name: 'b' }) } }],
    ['id in req.user, beside an empty req.auth.payload', { auth: { payload: {} }, user: { id: 1 } }, { auth: { payload: {} }, user: { id: 2 } }],
    ['id in req.user, beside a req.auth without one', { auth: { token: 't' }, user: { id: 1 } }, { auth: { token: 't' }, user: { id: 2 } }],
    ['caller at all', { user: { id: 1 } }, {}],
  ])('is not shared where the callers have another %s', async (_title, one, other) => {
    expect(await runsOf(one, other, one, other)).toBe(2);
  });

  it.each<[string, Caller, Caller]>([
    ['the same sub', { auth: { payload: { sub: 'a', iat: 1 } } }, { auth: { payload: { sub: 'a', iat: 2 } } }],
    ['the same id, once as a number and once as text', { user: { id: 7 } }, { user: { id: '7' } }],
    ['no id but the same claims', { user: { a: 1, b: [2] } }, { user: { b: [2], a: 1 } }],
    ['no claims', { user: undefined }, { auth: null }],
    ['the same text as req.user', { user: 'ann' }, { user: 'ann' }],
    ['the same id, once beside an empty req.auth', { auth: {}, user: { id: 1 } }, { user: { id: 1 } }],
    ['nothing in req.user', { user: {} }, {}],
    ['nothing in req.user, which has no prototype', { user: bare({}) }, {}],
  ])('is shared where the callers have %s', async (_title, one, other) => {
    expect(await runsOf(one, other)).toBe(1);
  });

  it.each(ids.flatMap(([title, id]) => [
    ['sub in req.auth', title, (text: string): Caller => ({ auth: { sub: id(text) } })],
    ['id in req.user', title, (text: string): Caller => ({ user: { id: id(text) } })],
    ['_id in req.user', title, (text: string): Caller => ({ user: { _id: id(text) } })],
    ['claim', title, (text: string): Caller => ({ user: { account: id(text) } })],
    ['claim inside a claim', title, (text: string): Caller => ({ user: { roles: [{ of: id(text) }] } })],
    ['req.user', title, (text: string): Caller => ({ user: id(text) })],
  ] as const))('is told apart by a %s that is an object %s', async (_where, _title, caller) => {
    expect(await runsOf(caller('0a'), caller('0b'), caller('0a'), caller('0b'))).toBe(2);
  });

  it.each(ids.flatMap(([title, id]) => ['sub', 'id', '_id'].map(claim => [claim, title, (last: number): Caller => ({ user: { [claim]: id('0a'), last } })] as const)))('is shared by those who have the same %s, an object %s, whatever else is said of them', async (_claim, _title, caller) => {
    expect(await runsOf(caller(1), caller(2))).toBe(1);
  });

  it.each(['sub', 'id', '_id'])('is not given to a caller of whose %s nothing can be seen: the application is told to pass scope', async claim => {
    const app = express().set('env', 'test').use((req, _res, next) => { Object.assign(req, { user: { role: 'buyer', [claim]: { toHexString: () => '0a' } } }); next(); }).post('/', idempotency(), (_req, res) => { res.end(); });
    app.use(((error: Error, _req, res, next) => { if (res.headersSent) next(error); else res.status(500).end(error.message); }) satisfies ErrorRequestHandler);
    const { status, text } = await send((await serve(app)).url, { headers: keyed('k') });
    expect([status, text]).toEqual([500, `idempotency: nothing of the \`${claim}\` of the caller can be seen, so that callers could share responses. Pass \`scope\`.`]);
  });

  it('is not given to a caller of whom nothing can be seen, nor does its handler run: the application is told to pass scope', async () => {
    const errors: Error[] = [];
    let runs = 0;
    const onError: ErrorRequestHandler = (error: Error, _req, _res, next) => { errors.push(error); next(error); };
    const app = express().set('env', 'test').use((req, _res, next) => { Object.assign(req, { user: new Hidden('ann') }); next(); }).post('/', idempotency(), (_req, res) => { runs++; res.end(); }).use(onError);
    expect((await send((await serve(app)).url, { headers: keyed('k') })).status).toBe(500);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/nothing of the Hidden that .*req\.user is can be seen.* Pass `scope`\./)]);
    expect(runs).toBe(0);
  });

  it('goes by the Authorization header of a caller of whom nothing else can be seen', async () => {
    let runs = 0;
    const app = express().use((req, _res, next) => { Object.assign(req, { user: new Hidden('ann') }); next(); }).post('/', idempotency(), (_req, res) => { runs++; res.end(); });
    const { url } = await serve(app);
    for (const Authorization of ['Bearer a', 'Bearer b', 'Bearer a']) expect((await send(url, { headers: keyed('k', { Authorization }) })).status).toBe(200);
    expect(runs).toBe(2);
  });
});

describe('scope', () => {
  it('that throws is an error of the application, and the handler does not run', async () => {
    let runs = 0;
    const app = express().set('env', 'test').post('/', idempotency({ scope: () => { throw new Error('no tenant'); } }), (_req, res) => { runs++; res.end(); });
    expect((await send((await serve(app)).url, { headers: keyed('k') })).status).toBe(500);
    expect(runs).toBe(0);
  });

  it('is shown the Express request', async () => {
    const seen: unknown[] = [];
    const app = express().post('/:tenant', idempotency({ scope: req => { seen.push(req.params['tenant'], req.get('X-A')); return undefined; } }), (_req, res) => { res.end(); });
    await send(`${(await serve(app)).url}/acme`, { headers: keyed('k', { 'X-A': 'a' }) });
    expect(seen).toEqual(['acme', 'a']);
  });
});

describe('with claims of configure()', () => {
  const configured = configure({ binding: { claims: req => (req.get('X-Who') === undefined ? undefined : { sub: req.get('X-Who') }) } });
  const runsFor = async (middleware: ReturnType<typeof idempotency>, ...callers: readonly (string | undefined)[]): Promise<number> => {
    let runs = 0;
    const { url } = await serve(express().post('/', middleware, (_req, res) => { res.json({ run: ++runs }); }));
    for (const who of callers) await send(url, { headers: { ...keyed('k'), ...who !== undefined && { 'X-Who': who } } });
    return runs;
  };

  it('a response is not shared by callers that these tell apart', async () => {
    expect(await runsFor(configured.idempotency(), 'ann', 'bob', 'ann', 'bob', undefined, undefined)).toBe(3);
  });

  it('an own scope wins', async () => {
    expect(await runsFor(configured.idempotency({ scope: () => 'all' }), 'ann', 'bob')).toBe(1);
  });
});
