import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

describe.each(expressVersions)('on %s, when the client has gone,', (_version, express) => {
  /** A handler that is told when its client is gone. */
  const served = async (options: IdempotencyOptions, handler: (gone: Promise<void>, run: number) => RequestHandler) => {
    const log = new EventLog();
    const running = signal();
    const state = { runs: 0 };
    const app = express().post(
      '/',
      idempotency({ onEvent: log.onEvent, waitTimeout: 60_000, ...options }),
      (req, res, next) => {
        const gone = signal();
        res.socket?.once('close', () => {
          gone.happens();
        });
        void handler(gone.happened, ++state.runs)(req, res, next);
        running.happens();
      },
    );
    return { log, running, state, ...(await serve(app)) };
  };
  const hangUp = async (url: string, running: Promise<void>): Promise<void> => {
    const sent = request(url, { method: 'POST', headers: keyed('k'), agent: false }).on('error', () => undefined);
    sent.end();
    await running;
    sent.destroy();
  };

  it('a handler whose connection the server closes before it has begun to answer is stored', async () => {
    const { log, running, state, url, server } = await served({}, (gone, run) => (_req, res) => {
      void gone.then(() => res.json({ run }));
    });
    const first = send(url, { headers: keyed('k') }).catch(() => 'cut off');
    await running.happened;
    server.closeAllConnections();
    expect(await first).toBe('cut off');
    await log.first('executed');
    expect((await send(url, { headers: keyed('k') })).text).toBe('{"run":1}');
    expect(state.runs).toBe(1);
  });

  it('a handler that has begun and does not go on has run: it is not run again, and its retry gets a 409', async () => {
    const { log, running, state, url } = await served({ leaseDuration: 90 }, () => (_req, res) => {
      res.write('half');
    });
    await hangUp(url, running.happened);
    await log.first('not-stored');
    const retry = await send(url, { headers: keyed('k') });
    expect([retry.status, (JSON.parse(retry.text) as { type: string }).type]).toEqual([
      409,
      'urn:bindonce:response-unavailable',
    ]);
    expect(state.runs).toBe(1);
  }, 60_000);

  it('a handler that has not begun and never answers keeps its key for cacheDuration, and no longer', async () => {
    const { running, state, url } = await served(
      { leaseDuration: 60, cacheDuration: 200, whenInFlight: 'reject' },
      (_gone, run) => (_req, res) => {
        if (run > 1) res.json({ run });
      },
    );
    const begun = performance.now();
    await hangUp(url, running.happened);
    let retry = await send(url, { headers: keyed('k') });
    while (retry.status === 409) retry = await send(url, { headers: keyed('k') });
    expect(retry.text).toBe('{"run":2}');
    expect(performance.now() - begun).toBeGreaterThan(199);
    expect(state.runs).toBe(2);
  }, 60_000);

  it('requests that were sent one after the other on its connection are stored, each', async () => {
    const log = new EventLog();
    const runs: string[] = [];
    const bothRunning = signal();
    const gone = signal();
    const app = express().use((req, _res, next) => {
      req.socket.once('close', gone.happens);
      next();
    });
    app.post('/', idempotency({ onEvent: log.onEvent }), (req, res) => {
      const { key } = req.idempotency;
      void gone.happened.then(() => res.send(key));
      if (runs.push(key) === 2) bothRunning.happens();
    });
    const { url, port } = await serve(app);
    const socket = connect(port, '127.0.0.1');
    for (const key of ['a', 'b'])
      socket.write(
        `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n\r\n`,
      );
    await bothRunning.happened;
    socket.destroy();
    await once(socket, 'close');
    for (const key of ['a', 'b']) {
      const retry = await send(url, { headers: keyed(key) });
      expect([retry.text, retry.headers['idempotent-replayed']]).toEqual([key, 'true']);
    }
    expect(runs.sort()).toEqual(['a', 'b']);
  }, 60_000);

  it('an earlier middleware that has answered is left alone, and nothing runs', async () => {
    const running = signal();
    const mayAnswer = signal();
    let runs = 0;
    const app = express()
      .use((req, res, next) => {
        next();
        if (!req.get('X-Impatient')) return;
        setImmediate(() => {
          res.status(504).write('too ');
          res.end('slow');
          mayAnswer.happens();
        });
      })
      .post('/', idempotency(), (req, res) => {
        runs++;
        req.idempotency.forget();
        running.happens();
        void mayAnswer.happened.then(() => res.send('done'));
      });
    const { url } = await serve(app);
    const first = send(url, { headers: keyed('k') });
    await running.happened;
    const impatient = send(url, { headers: keyed('k', { 'X-Impatient': '1' }) });
    expect((await first).text).toBe('done');
    const answer = await impatient;
    expect([answer.status, answer.text, runs]).toEqual([504, 'too slow', 1]);
    expect((await send(url, { headers: keyed('k') })).text).toBe('done');
  }, 60_000);
});
