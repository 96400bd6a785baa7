import express from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../servers/listen';
import { serve } from '../serve';
import { keyed } from '../wire';

/** What an authentication middleware leaves on the request. */
type Caller = Readonly<Record<string, unknown>>;

async function runsOf(...callers: readonly Caller[]): Promise<number> {
  let runs = 0;
  let next = 0;
  const app = express().use((req, _res, done) => { Object.assign(req, callers[next++]); done(); }).post('/', idempotency(), (_req, res) => { res.json({ run: ++runs }); });
  const { url } = await serve(app);
  for (let request = 0; request < callers.length; request++) expect((await send(url, { headers: keyed('k') })).status).toBe(200);
  return runs;
}

describe('by default, a response', () => {
  it.each<[string, Caller, Caller]>([
    ['sub in req.auth.payload', { auth: { payload: { sub: 'a' } } }, { auth: { payload: { sub: 'b' } } }],
    ['sub in req.auth', { auth: { sub: 'a' } }, { auth: { sub: 'b' } }],
    ['sub in req.user', { user: { sub: 'a' } }, { user: { sub: 'b' } }],
    ['id in req.user', { user: { id: 1 } }, { user: { id: 2 } }],
    ['issuer of one sub', { user: { iss: 'a', sub: '1' } }, { user: { iss: 'b', sub: '1' } }],
    ['kind of id', { user: { sub: '1' } }, { user: { id: '1' } }],
    ['big id in req.user', { user: { id: 9007199254740993n } }, { user: { id: 9007199254740992n } }],
    ['name in req.user, which has no id', { user: { name: 'a' } }, { user: { name: 'b' } }],
    ['caller at all', { user: { id: 1 } }, {}],
  ])('is not shared where the callers have another %s', async (_title, one, other) => {
    expect(await runsOf(one, other, one, other)).toBe(2);
  });

  it.each<[string, Caller, Caller]>([
    ['the same sub', { auth: { payload: { sub: 'a', iat: 1 } } }, { auth: { payload: { sub: 'a', iat: 2 } } }],
    ['the same id, once as a number and once as text', { user: { id: 7 } }, { user: { id: '7' } }],
    ['no id but the same claims', { user: { a: 1, b: [2] } }, { user: { b: [2], a: 1 } }],
    ['no claims', { user: undefined }, { auth: null }],
  ])('is shared where the callers have %s', async (_title, one, other) => {
    expect(await runsOf(one, other)).toBe(1);
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
