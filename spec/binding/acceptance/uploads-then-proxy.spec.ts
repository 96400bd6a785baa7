import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, dto, file, idempotency, list, optional, string } from '../../../lib';
import { send } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serving, toWire, type Sent } from '../../support/one-endpoint';

class Upload extends dto({ title: optional(string), photos: optional(list(file)) }) {}
const SENT: Sent = {
  multipart: [
    ['title', 't'],
    ['photos', new File(['x'.repeat(100_000)], 'a.png')],
  ],
};
const framings: readonly (readonly [string, Record<string, string>])[] = [
  ['Content-Length', {}],
  ['chunked', { 'Transfer-Encoding': 'chunked' }],
];

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
  it.each(
    framings.flatMap(([framing, headers]) =>
      (
        [
          ['headers', (req: Request) => req.headers],
          ['rawHeaders', (req: Request) => req.rawHeaders],
        ] as const
      ).map(([what, headersOf]) => ({ framing, headers, what, headersOf })),
    ),
  )('is passed on by a proxy as a request without a body: $framing, by its $what', async ({ headers, headersOf }) => {
    const upstream = framework().post('/', behind);
    const answers = await serving(upstream, ({ port }) => {
      const proxy = framework()
        .post('/', bindRequest(Upload, { allowFormData: true }))
        .post('/', proxyTo(port, headersOf));
      return serving(proxy, async ({ url }) => {
        const sent = await toWire({ ...SENT, headers });
        return [await send(url, sent), await send(url, sent)];
      });
    });
    // Node itself frames a POST without a length in chunks.
    expect(answers.map(({ status, text }) => [status, (JSON.parse(text) as { length: number }).length])).toEqual([
      [200, 0],
      [200, 0],
    ]);
  });

  it('is bound once more by a second bindRequest()', async () => {
    class Title extends dto({ title: string }) {}
    const app = framework()
      .post('/', bindRequest(Upload, { allowFormData: true }))
      .post('/', bindRequest(Title, { allowFormData: true }), (req, res) => {
        res.json(req.dto);
      });
    const { text } = await serving(app, async ({ url }) => send(url, await toWire(SENT)));
    expect(JSON.parse(text)).toEqual({ title: 't' });
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
    const post = async (url: string, sent: Sent): Promise<string> => {
      const { headers, ...rest } = await toWire(sent);
      return (await send(url, { ...rest, headers: { ...headers, 'Idempotency-Key': 'k' } })).text;
    };
    const texts = await serving(app, async ({ url }) => [
      await post(url, SENT),
      await post(url, SENT),
      await post(url, { multipart: [['title', 'other']] }),
    ]);
    expect(texts).toEqual(['{"run":1}', '{"run":1}', '{"run":2}']);
  });

  it('is out of the way of the next request on its connection', async () => {
    const app = framework().post('/', bindRequest(Upload, { allowFormData: true }), (_req, res) => {
      res.end('ran');
    });
    await serving(app, async ({ url, server }) => {
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
});

it('behind idempotency(), a form is passed on whole', async () => {
  const upstream = express().post('/', behind);
  const { body, headers } = await toWire(SENT);
  const { text } = await serving(upstream, ({ port }) => {
    const proxy = express()
      .post('/', idempotency({ store: new Keyv() }), bindRequest(Upload, { allowFormData: true }))
      .post(
        '/',
        proxyTo(port, ({ headers: given }) => given),
      );
    return serving(proxy, ({ url }) =>
      send(url, { body: body ?? '', headers: { ...headers, 'Idempotency-Key': 'k' } }),
    );
  });
  expect(JSON.parse(text)).toEqual({
    length: Buffer.from(body ?? '').length,
    declared: String(Buffer.from(body ?? '').length),
  });
});
