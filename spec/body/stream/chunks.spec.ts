import type { ErrorRequestHandler, RequestHandler } from 'express';
import { bindRequest, dto, formField, idempotency, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { keyed } from '../../support/replays';
import { multipart } from '../../support/multipart';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';

class Note extends dto({ text: string }) {}

describe.each(expressVersions)('behind a middleware that has called req.setEncoding(), on %s,', (_version, express) => {
  class Form extends dto({ text: formField(string) }) {}
  const json = { headers: { 'Content-Type': 'application/json' }, body: '{"text":"\u00e9"}' };
  const form = multipart([{ name: 'text', value: '\u00e9' }], 'b1');
  const ask = async (middleware: RequestHandler, sent: { headers: Record<string, string>; body: string | Buffer }) => {
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    };
    const app = express().use((req, _res, next) => {
      req.setEncoding('utf8');
      next();
    });
    const { url } = await serve(app.post('/', middleware).use(onError));
    return send(url, { ...sent, headers: { ...keyed('k', sent.headers), 'Transfer-Encoding': 'chunked' } });
  };
  const told = 'Mount it before the middleware that reads the body';

  it.each<[string, RequestHandler, Parameters<typeof ask>[1]]>([
    ['idempotency() with JSON', idempotency(), json],
    ['bindRequest() with JSON', bindRequest(Note) as RequestHandler, json],
    ['idempotency() with a form', idempotency(), form],
    ['bindRequest() with a form', bindRequest(Form, { allowFormData: true }) as RequestHandler, form],
  ])('%s tells the application', async (_what, middleware, sent) => {
    expect(await ask(middleware, sent)).toMatchObject({ status: 500, text: expect.stringContaining(told) as string });
  });
});
