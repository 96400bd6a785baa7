import cors from 'cors';
import express, { type Express } from 'express';
import { Keyv } from 'keyv';
import { idempotency, operate, type LeaseStore, type OperateOptions } from '../../../lib';
import { ask } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';

function shop(version: () => Express, options: Partial<OperateOptions> = { allow: () => true }) {
  const once = idempotency({ store: new Keyv({ store: new Map() }) });
  const app = version();
  let cacheKey = '';
  app.use('/operate', operate(once, options as OperateOptions));
  app.post('/orders', once, (req, res) => {
    ({ cacheKey } = req.idempotency);
    res.status(201).set('X-Order', '7').send('<b>7</b>');
  });
  return { app, cacheKey: () => cacheKey };
}

const throwing = (): never => {
  throw new Error('secret');
};
const same = { 'Sec-Fetch-Site': 'same-origin' };

describe.each(expressVersions)('operate() (%s)', (_version, version) => {
  it('lists runs, and shows a response only where it is asked for', async () => {
    const { app, cacheKey } = shop(version);
    await ask(app, { path: '/orders', key: 'k' });
    const list = await ask(app, { method: 'GET', path: '/operate/keys?state=done&key=k&limit=5' });
    const [run] = (list.body as { items: object[] }).items;
    expect(run).toMatchObject({ cacheKey: cacheKey(), state: 'done', method: 'POST', path: '/orders', status: 201 });
    expect(list.text).not.toContain('7</b>');
    const path = `/operate/keys/${cacheKey()}`;
    expect((await ask(app, { method: 'GET', path })).body).toEqual(run);
    const { body } = await ask(app, { method: 'GET', path: `${path}?response=true` });
    const { response } = body as { response: { body: string; headers: unknown[] } };
    expect(Buffer.from(response.body, 'base64').toString()).toBe('<b>7</b>');
    expect(response.headers).toContainEqual(['X-Order', '7']);
  });

  it.each([
    ['as JSON', false],
    ['behind express.json()', true],
  ])('settles a run: the outcome %s', async (_how, parsed) => {
    const asked: unknown[] = [];
    const leases = {
      acquire: () => ({ kind: 'unknown', token: 't' }),
      settle: (...args: unknown[]) => asked.push(args) > 0,
      ...{ renew: () => true, complete: () => true, release: () => true },
    } as unknown as LeaseStore;
    const app = version();
    if (parsed) app.use(express.json());
    app.use(operate(idempotency({ store: new Keyv(), leases }), { allow: () => true }));
    const path = '/keys/c/resolve';
    const settled = await ask(app, { path, json: { outcome: 'did-not-run' }, headers: same });
    expect([settled.body, asked]).toEqual([{ resolved: true }, [['c', 't', 'did-not-run', 600_000]]]);
    const refused = await ask(app, { path, json: { outcome: 'perhaps' }, headers: same });
    expect([refused.status, (refused.body as { detail: string }).detail]).toEqual([
      400,
      "idempotency: resolve() needs 'ran' or 'did-not-run', not \"perhaps\"",
    ]);
  });

  it.each<[allowed: string, allow: OperateOptions['allow']]>([
    ['false', () => false],
    ['a promise of false', () => Promise.resolve(false)],
    ['a throw', throwing],
    ['a rejection', async () => throwing()],
    ['what is not true', () => 'yes' as unknown as boolean],
  ])('shows nothing, whatever the path, when allow answers %s', async (_allowed, allow) => {
    const { app, cacheKey } = shop(version, { allow });
    await ask(app, { path: '/orders', key: 'k' });
    for (const path of ['/operate/', '/operate/page.js', '/operate/keys', `/operate/keys/${cacheKey()}`]) {
      const { status, text } = await ask(app, { method: 'GET', path });
      expect([path, status, text]).toEqual([path, 403, '']);
    }
    const { status } = await ask(app, { method: 'DELETE', path: `/operate/keys/${cacheKey()}`, headers: same });
    expect(status).toBe(403);
    expect((await ask(app, { path: '/orders', key: 'k' })).headers['idempotent-replayed']).toBe('true');
  });

  it.each<[who: string, reads: boolean, changes: boolean, headers: Record<string, string>]>([
    ['another site', false, false, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ['another origin of the site', false, false, { 'Sec-Fetch-Site': 'same-site' }],
    ['another Origin', false, false, { Origin: 'https://evil.example' }],
    ['an opaque Origin', false, false, { Origin: 'null' }],
    ['an address that was typed', true, false, { 'Sec-Fetch-Site': 'none' }],
    ['a program', true, false, {}],
    ['this page', true, true, same],
  ])('shows and changes keys for %s only as it may, whatever CORS allows', async (_who, reads, changes, headers) => {
    const { app, cacheKey } = shop(() => version().use(cors({ origin: true, credentials: true })));
    await ask(app, { path: '/orders', key: 'k' });
    const path = `/operate/keys/${cacheKey()}`;
    for (const read of ['/operate/keys', `${path}?response=true`]) {
      const { status, text } = await ask(app, { method: 'GET', path: read, headers });
      expect([status, text.includes(cacheKey())]).toEqual([reads ? 200 : 403, reads]);
    }
    const resolved = await ask(app, { path: `${path}/resolve`, json: { outcome: 'ran' }, headers });
    const remove = () => ask(app, { method: 'DELETE', path, headers });
    const [removed, again] = [await remove(), await remove()];
    expect([resolved.status, removed.status]).toEqual(changes ? [200, 200] : [403, 403]);
    if (changes) expect([removed.body, again.body]).toEqual([{ purged: true }, { purged: false }]);
    const { 'idempotent-replayed': mark } = (await ask(app, { path: '/orders', key: 'k' })).headers;
    expect(mark).toBe(changes ? undefined : 'true');
  });

  it('takes the Origin where a browser sends no Sec-Fetch-Site, as on a page without https', async () => {
    const { app, cacheKey } = shop(version);
    await ask(app, { path: '/orders', key: 'k', headers: { Host: 'shop.example:8080' } });
    const headers = { Host: 'shop.example:8080', Origin: 'http://shop.example:8080' };
    const path = `/operate/keys/${cacheKey()}`;
    expect((await ask(app, { method: 'DELETE', path, headers })).body).toEqual({ purged: true });
  });

  it.each([
    [308, ['GET /operate']],
    [200, ['GET /operate/', 'HEAD /operate/page.css', 'GET /operate/keys?after=x']],
    [400, ['GET /operate/keys?state=over']],
    [
      404,
      ['GET /operate/keys/of-nobody', 'GET /operate/../package.json', 'GET /operate/index.html', 'PUT /operate/keys/x'],
    ],
  ])('answers with %i: %j', async (status, requests) => {
    for (const [method, path] of requests.map(one => one.split(' ')))
      expect((await ask(shop(version).app, { method: method ?? '', path: path ?? '' })).status).toBe(status);
  });

  it('allows its page nothing but its own files, and no page to keep or to frame it', async () => {
    const { headers } = await ask(shop(version).app, { method: 'GET', path: '/operate/' });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
    );
    expect(headers['cache-control']).toBe('no-store');
  });
});

it.each<[what: string, given: unknown[], message: RegExp]>([
  ['without allow', [idempotency(), {}], /^operate: pass allow/],
  ['without options', [idempotency()], /^operate/],
  ['with an unknown option', [idempotency(), { allow: () => true, alow: 1 }], /alow/],
  ['for another middleware', [express.json(), { allow: () => true }], /what idempotency\(\) returned/],
])('operate() %s is a TypeError', (_what, given, message) => {
  const make = (): unknown => Reflect.apply(operate, undefined, given);
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});
