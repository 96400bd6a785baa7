import type { IncomingMessage, ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { json, type Response } from 'express';
import { bindRequest, dto, idempotency, string } from '../../lib';
import { shareShapes } from '../../lib/http/express';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';

const Order = dto({ sku: string });

/** V8 has no public way to ask how it keeps the properties of an object. */
const isTable = ((): ((object: object) => boolean) => {
  setFlagsFromString('--allow-natives-syntax');
  const compiled = new Function('object', 'return !%HasFastProperties(object)') as typeof isTable;
  setFlagsFromString('--no-allow-natives-syntax');
  return compiled;
})();

const isOldV8 = parseInt(process.versions.v8, 10) < 13;

describe.each(expressVersions)('a request on %s', (_title, express) => {
  it.each([
    ['idempotency()', [idempotency()]],
    ['bindRequest()', [json(), bindRequest(Order)]],
  ])('is a table of properties behind %s where V8 makes a shape of each, and so is its response', async (_, before) => {
    const app = express().post('/', ...before, (req: IncomingMessage, res: Response) => {
      res.json([isTable(req), isTable(res)]);
    });
    const { url } = await serve(app);

    const { body } = await ask(url, { key: 'k-1', json: { sku: 'A' } });

    expect(body).toEqual([isOldV8, isOldV8]);
  });

  it('keeps its URL and the locals of its response', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.locals['user'] = 'u-1';
        next();
      })
      .post('/orders/:id', idempotency(), (req, res) => res.json({ url: req.originalUrl, locals: res.locals }));
    const { url } = await serve(app);

    const { body } = await ask(url, { path: '/orders/7?a=1', key: 'k-1' });

    expect(body).toEqual({ url: '/orders/7?a=1', locals: { user: 'u-1' } });
  });
});

it('a response that takes no more properties keeps its locals', () => {
  const [req, res] = [{ originalUrl: '/' }, Object.preventExtensions({ locals: { user: 'u-1' } })];
  shareShapes(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  expect([req, res]).toEqual([{ originalUrl: '/' }, { locals: { user: 'u-1' } }]);
});
