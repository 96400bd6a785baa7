import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, idempotency, int } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

describe('req.idempotency', () => {
  it('keeps its signal and its functions when it is copied', async () => {
    let copy: Partial<Express.Request['idempotency']> = {};
    const app = express().post('/', idempotency(), (req, res) => {
      copy = { ...req.idempotency };
      copy.forget?.();
      res.end();
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('copied') });
    expect(Object.keys(copy).sort()).toEqual(['cacheKey', 'forget', 'key', 'signal']);
    expect(copy.signal).toBeInstanceOf(AbortSignal);
    expect((await send(url, { headers: keyed('copied') })).headers['idempotent-replayed']).toBeUndefined();
  });

  it.each<[string, RequestHandler]>([
    [
      'copied',
      (req, _res, next) => {
        Object.assign(req, { idempotency: { ...req.idempotency } });
        next();
      },
    ],
    [
      'wrapped',
      (req, _res, next) => {
        Object.assign(req, { idempotency: new Proxy(req.idempotency, {}) });
        next();
      },
    ],
  ])('is told of a refusal when a middleware has %s it: the key stays usable', async (_how, change) => {
    let valid = false;
    const app = express()
      .post('/', idempotency({ ignoreRequestBody: true }), change, bindRequest(dto({ n: int })), (_req, res) => {
        res.send('ran');
      })
      .use(express.json());
    const { url } = await serve(app);
    const ask = () =>
      send(url, { headers: keyed('refused', { 'Content-Type': 'application/json' }), body: valid ? '{"n":1}' : '{}' });
    expect((await ask()).status).toBe(400);
    valid = true;
    expect((await ask()).text).toBe('ran');
  });

  it('has a signal that says why it aborts after forget()', async () => {
    let reason: unknown;
    const app = express().post('/', idempotency(), (req, res) => {
      const { signal, forget } = req.idempotency;
      signal.addEventListener('abort', () => (reason = signal.reason));
      forget();
      res.end();
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('forgotten') });
    expect(String(reason)).toMatch(/^Error: The idempotency lease was given back: /);
  });
});

it('without Express, the signal of a handler that throws before it has begun to respond aborts: a retry may run', async () => {
  const guard = idempotency();
  let signal: AbortSignal | undefined;
  const { url } = await serve((req, res) => {
    guard(req, res, error => {
      if (error === undefined) {
        signal = (req as unknown as Express.Request).idempotency.signal;
        throw new Error('boom');
      }
      res.statusCode = 500;
      res.end();
    });
  });
  expect((await send(url, { headers: keyed('thrown') })).status).toBe(500);
  expect(String(signal?.reason)).toMatch(/^Error: The idempotency lease was given back: /);
});

/**
 * Sends two equal requests to a handler of node:http, in a process of its own, since an uncaught error ends that.
 * @returns what the clients got, and in order what ran, what was reported, and where the handler's errors arrived.
 */
async function withoutExpress(handler: string): Promise<{ answers: string[]; log: string[] }> {
  const script = `
    const { createServer } = require('node:http');
    const { connect } = require('node:net');
    const { text } = require('node:stream/consumers');
    const { idempotency } = require('./dist');
    const log = [];
    process.on('uncaughtException', error => log.push('uncaught ' + error.message));
    const guard = idempotency({ onEvent: ({ kind }) => log.push(kind) });
    const server = createServer((req, res) => {
      guard(req, res, error => {
        if (error) {
          log.push('passed on ' + error.message);
          res.statusCode = 500;
          res.end('error page');
          return;
        }
        log.push('run');
        ${handler}
        throw new Error('boom');
      });
    }).listen(0, '127.0.0.1', async () => {
      const { port } = server.address();
      const ask = () => {
        const client = connect(port, '127.0.0.1');
        client.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nIdempotency-Key: k\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n');
        return text(client).catch(error => error.code);
      };
      const answers = [await ask(), await ask()];
      server.close(() => console.log(JSON.stringify({ answers, log })));
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: join(__dirname, '../../..'),
  });
  return JSON.parse(stdout) as { answers: string[]; log: string[] };
}

describe('without Express, a handler that throws', () => {
  it.each([
    ['before it responds', "res.setHeader('X-Half', '1');"],
    ['after a head that is held back', "res.writeHead(201, { 'X-Half': '1' });"],
  ])('%s is answered by the next function, and its key stays usable', async (_when, handler) => {
    const { answers, log } = await withoutExpress(handler);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 500 [^]*error page$/);
      expect(answer).not.toContain('X-Half');
    }
    const once = ['run', 'refused', 'passed on boom'];
    expect(log).toEqual([...once, ...once]);
  });

  it('after it has ended its response has run: that is stored, sent and replayed, and the error is thrown then', async () => {
    const { answers, log } = await withoutExpress("res.end('charged');");
    expect(answers).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 200 [^]*\r\n\r\ncharged$/),
      expect.stringMatching(/^HTTP\/1\.1 200 [^]*Idempotent-Replayed: true[^]*\r\n\r\ncharged$/),
    ]);
    expect(log).toEqual(['run', 'executed', 'uncaught boom', 'replayed']);
  });

  it.each([
    [
      'when a part of its response was sent',
      "res.flushHeaders(); res.write('partial');",
      /^HTTP\/1\.1 200 (?![^]*HTTP)/,
    ],
    ['after it has destroyed its response', 'res.destroy();', /^(ECONNRESET)?$/],
  ])('%s has broken it off: the connection closes, and a retry runs', async (_when, handler, sent) => {
    const { answers, log } = await withoutExpress(handler);
    expect(answers).toEqual([expect.stringMatching(sent), expect.stringMatching(sent)]);
    const once = ['run', 'not-stored', 'uncaught boom'];
    expect(log).toEqual([...once, ...once]);
  });
});
