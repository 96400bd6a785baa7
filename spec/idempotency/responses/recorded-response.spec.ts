import type { RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../servers/listen';
import { expressVersions } from '../express-versions';
import { bodies, heads } from './responses';
import { serve } from '../serve';
import { keyed, visible, visibleReplay } from '../wire';

describe.each(expressVersions)('a replay on %s', (_version, express) => {
  it.each([...bodies, ...heads])('of %s equals the original, which is what the handler would have sent by itself', async (_title, { method = 'POST', headers = {}, handler }) => {
    let runs = 0;
    const counted: RequestHandler = (req, res, next) => {
      runs++;
      return handler(req, res, next);
    };
    // With a header set before, node 20 takes the lists of `writeHead` apart in another way than without.
    const app = express().disable('x-powered-by').all('/bare', handler).all('/guarded', idempotency({ addHeaderToResponse: false }), counted);
    const { url } = await serve(app);
    const get = (path: string): Promise<WireResponse> => send(url + path, { method, headers: keyed('k', headers) });

    const bare = await get('/bare');
    const first = await get('/guarded');
    const second = await get('/guarded');

    expect(visible(first)).toEqual(visible(bare));
    expect(visibleReplay(second)).toEqual(visible(first));
    expect(runs).toBe(1);
  });

  it('carries the idempotency key that was sent, as the original does', async () => {
    const { url } = await serve(express().post('/', idempotency(), (_req, res) => { res.json({}); }));
    const first = await send(url, { headers: keyed('"a, b"') });
    expect(first.lines).toContain('Idempotency-Key: "a, b"');
    expect(visibleReplay(await send(url, { headers: keyed('"a, b"') }))).toEqual(visible(first));
  });

  it('of a redirect goes back to the referrer of the original', async () => {
    const { url } = await serve(express().post('/', idempotency(), (req, res) => { res.redirect(req.get('Referrer') ?? '/'); }));
    await send(url, { headers: keyed('k', { Referer: '/a' }) });
    expect((await send(url, { headers: keyed('k', { Referer: '/b' }) })).headers.location).toBe('/a');
  });
});

describe('a replay', () => {
  it('keeps header lines that middleware before us sets the same, and drops those that it sets only now', async () => {
    const express = expressVersions[0]?.[1];
    if (!express) throw new Error('There is no Express');
    let requests = 0;
    const app = express().use((_req, res, next) => {
      res.set(`X-Request-${++requests}`, 'x');
      next();
    }).post('/', idempotency(), (_req, res) => { res.json({}); });
    const { url } = await serve(app);
    const first = await send(url, { headers: keyed('k') });
    expect(first.headers).toHaveProperty('x-request-1');
    expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual(visible(first));
  });
});
