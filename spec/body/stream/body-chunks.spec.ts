import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createNamespace } from 'cls-hooked';
import type { RequestHandler } from 'express';
import { bindRequest, dto, idempotency, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

class Note extends dto({ text: string }) {}

describe.each(expressVersions)(
  'behind cls-hooked, which wraps the listeners of requests, on %s,',
  (_version, express) => {
    const namespace = createNamespace('spec');
    const cls: RequestHandler = (req, res, next) => {
      namespace.run(() => {
        namespace.bindEmitter(req);
        namespace.bindEmitter(res);
        next();
      });
    };

    it.each<[string, RequestHandler[]]>([
      ['idempotency()', [idempotency(), express.json() as RequestHandler]],
      ['bindRequest()', [bindRequest(Note) as RequestHandler]],
      ['both', [idempotency(), bindRequest(Note) as RequestHandler]],
    ])('%s reads a body that comes in several pieces', async (_what, middlewares) => {
      const arrived = signal();
      const begin: RequestHandler = (_req, _res, next) => {
        arrived.happens();
        next();
      };
      const app = express().post('/', begin, cls, ...middlewares, (req, res) => {
        const { text: sent } = (req.dto ?? req.body) as Note;
        res.send(String(sent.length));
      });
      const { url } = await serve(app);
      const body = JSON.stringify({ text: 'x'.repeat(90_000) });
      const headers = keyed('k', { 'Content-Type': 'application/json', 'Content-Length': String(body.length) });
      const client = request(url, { method: 'POST', headers });
      client.write(body.slice(0, 10));
      await arrived.happened;
      const answered = once(client, 'response');
      for (let at = 10; at < body.length; at += 30_000) {
        client.write(body.slice(at, at + 30_000));
        await new Promise(setImmediate);
      }
      client.end();
      const [response] = (await answered) as [IncomingMessage];
      expect([response.statusCode, await text(response)]).toEqual([200, '90000']);
    });
  },
);
