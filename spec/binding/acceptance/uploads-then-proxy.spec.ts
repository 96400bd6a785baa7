import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, dto, file, idempotency, list, optional, string } from '../../../lib';
import { serve } from '../../support/serve';
import { expressVersions } from '../../support/express-versions';
import { ask, toWire, type Sent } from '../../support/ask';

class Upload extends dto({ title: optional(string), photos: optional(list(file)) }) {}
const SENT: Sent = {
  multipart: [
    ['title', 't'],
    ['photos', new File(['x'.repeat(100_000)], 'a.png')],
  ],
};
/** Passes a request on as it is, over one connection. */
function proxyTo(port: number, headersOf: (req: Request) => IncomingMessage['headers'] | string[]): RequestHandler {
  return (req, res) => {
    const passed = request(
      { port, host: '127.0.0.1', method: req.method, path: '/', headers: headersOf(req) as IncomingMessage['headers'] },
      answer => {
        res.status(answer.statusCode ?? 0);
        answer.pipe(res);
      },
    );
    req.pipe(passed);
  };
}

const behind = (req: Request, res: Response): void => {
  void buffer(req).then(({ length }) => {
    res.json({ length, declared: req.headers['content-length'] ?? req.headers['transfer-encoding'] ?? null });
  });
};

describe.each(expressVersions)('%s: a form that bindRequest() has read', (_name, framework) => {
  it('is bound once more by a second bindRequest()', async () => {
    class Title extends dto({ title: string }) {}
    const app = framework()
      .post('/', bindRequest(Upload, { allowFormData: true }))
      .post('/', bindRequest(Title, { allowFormData: true }), (req, res) => {
        res.json(req.dto);
      });
    expect((await ask(app, SENT)).body).toEqual({ title: 't' });
  });

  it('takes part in the key of an idempotency() behind it', async () => {
    let runs = 0;
    const app = framework().post(
      '/',
      bindRequest(Upload, { allowFormData: true }),
      idempotency({ store: new Keyv() }),
      (_req, res) => {
        res.json({ run: ++runs });
      },
    );
    const runOf = async (sent: Sent): Promise<unknown> => (await ask(app, { ...sent, key: 'k' })).body;
    const other: Sent = { multipart: [['title', 'other']] };
    expect([await runOf(SENT), await runOf(SENT), await runOf(other)]).toEqual([{ run: 1 }, { run: 1 }, { run: 2 }]);
  });

  it('is out of the way of the next request on its connection', async () => {
    const app = framework().post('/', bindRequest(Upload, { allowFormData: true }), (_req, res) => {
      res.end('ran');
    });
    const { url, server } = await serve(app);
    let connections = 0;
    server.on('connection', () => {
      connections++;
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round++) {
      const { body, headers } = await toWire(SENT);
      const sent = request(url, { method: 'POST', agent, headers: headers as Record<string, string> });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      expect(String(await buffer(answer))).toBe('ran');
    }
    agent.destroy();
    expect(connections).toBe(1);
  });
});

it('behind idempotency(), a form is passed on whole', async () => {
  const upstream = express().post('/', behind);
  const { port } = await serve(upstream);
  const proxy = express()
    .post('/', idempotency({ store: new Keyv() }), bindRequest(Upload, { allowFormData: true }))
    .post(
      '/',
      proxyTo(port, ({ headers: given }) => given),
    );
  const { length } = Buffer.from((await toWire(SENT)).body ?? '');
  const { text } = await ask(proxy, { ...SENT, key: 'k' });
  expect(JSON.parse(text)).toEqual({ length, declared: String(length) });
});
