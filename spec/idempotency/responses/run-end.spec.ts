import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';
import { finished, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import session from 'express-session';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** Notes how a response ends, as a middleware does that opens a transaction for each request. */
class Endings {
  private readonly closed = signal();
  readonly events: string[] = [];

  readonly watch: RequestHandler = (req, res, next) => {
    if (req.get('X-Retry')) return next();
    res.on('finish', () => this.events.push(`finish ${res.writableFinished}`));
    res.on('close', () => {
      this.events.push(`close ${res.writableFinished}`);
      setImmediate(this.closed.happens);
    });
    next();
  };

  async all(): Promise<readonly string[]> {
    await this.closed.happened;
    return this.events;
  }
}

type Listener = (...given: unknown[]) => void;

const FINISHED = ['finish true', 'close true'];
const post = (port: number, key: string): string =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n\r\n`;

describe.each(expressVersions)('on %s, a response whose client has left', (_version, express) => {
  /** Runs `handler` when the client has left. @returns how its response has ended, and a way to retry. */
  const orphaned = async (
    handler: (res: Response) => unknown,
    options: IdempotencyOptions = {},
    before: readonly RequestHandler[] = [],
  ) => {
    const [first, second, running, gone] = [new Endings(), new Endings(), signal(), signal()];
    const log = new EventLog();
    const app = express().post('/', first.watch, ...before, idempotency({ onEvent: log.onEvent, ...options }));
    app.post('/', second.watch, (req, res, next) => {
      if (req.get('X-Retry')) return res.send('ran again');
      res.socket?.once('close', () => {
        setImmediate(gone.happens);
      });
      running.happens();
      return gone.happened.then(() => handler(res)).catch(next);
    });
    const { port, url } = await serve(app);
    const client = connect(port, '127.0.0.1');
    client.write(post(port, 'k'));
    await running.happened;
    client.destroy();
    return { first, second, log, retry: () => send(url, { headers: keyed('k', { 'X-Retry': '1' }) }) };
  };

  it.each<[string, RequestHandler[]]>([
    ['', []],
    [' behind compression', [compression()]],
    [' behind express-session', [session({ secret: 's', resave: true, saveUninitialized: true })]],
  ])('finishes%s when it is stored, before it closes: what was done for it is kept', async (_where, before) => {
    const ended = signal();
    const { first, second, retry } = await orphaned(
      res =>
        res.status(201).end('done', () => {
          ended.happens();
        }),
      {},
      before,
    );
    expect([await first.all(), await second.all()]).toEqual([FINISHED, FINISHED]);
    await ended.happened;
    expect((await retry()).text).toBe('done');
  });

  it.each<[string, (res: Response) => Promise<unknown>]>([
    ['a pipeline to it', res => pipeline(Readable.from(['do', 'ne']), res)],
    ['finished()', res => promisify(finished)(res.end('done'))],
  ])('is a success for %s', async (_title, finish) => {
    const told = signal<unknown>();
    const { retry } = await orphaned(res => {
      finish(res).then(() => {
        told.happens('success');
      }, told.happens);
    });
    expect(await told.happened).toBe('success');
    expect((await retry()).text).toBe('done');
  });

  it('leaves its request as it is when it finishes: what was done is not taken back by `aborted` or `error`', async () => {
    const over = signal();
    const told: string[] = [];
    const { retry } = await orphaned(res => {
      for (const event of ['aborted', 'error', 'close'] as const) res.req.on(event, () => told.push(event));
      res.req.once('close', () => {
        setImmediate(over.happens);
      });
      res.on('finish', () => told.push('finish')).send('done');
    });
    await over.happened;
    expect(told).toEqual(['finish', 'close']);
    expect((await retry()).text).toBe('done');
  });

  it('aborts its request if it is not stored', async () => {
    const over = signal();
    const told: string[] = [];
    await orphaned(
      res => {
        for (const event of ['aborted', 'error', 'close'] as const) res.req.on(event, () => told.push(event));
        res.req.once('close', () => {
          setImmediate(over.happens);
        });
        res.on('finish', () => told.push('finish')).send('done');
      },
      { shouldCache: () => false },
    );
    await over.happened;
    expect(told).toEqual(['aborted', 'error', 'close']);
  });

  const passing =
    (bind: (listener: Listener) => Listener): RequestHandler =>
    (_req, res, next) => {
      const on = res.on.bind(res) as (event: string, listener: Listener) => Response;
      res.on = ((event: string, listener: Listener) => on(event, bind(listener))) as typeof res.on;
      next();
    };
  const rowByRow = Array.from({ length: 20 }, () => 1);

  it.each<[string, RequestHandler[], number[]]>([
    ['waits for `drain` after each row', [], rowByRow],
    ['waits for it, too, where listeners are passed on', [passing(listener => listener)], rowByRow],
    [
      'waits for it, too, where listeners are bound to a context (OpenTelemetry, Sentry)',
      [passing(listener => Object.assign((...given: unknown[]) => listener(...given), { listener }))],
      rowByRow,
    ],
    ['does not wait where listeners are kept (compression)', [compression()], [20]],
  ])('%s if its handler writes rows until `write` returns false', async (_title, before, turns) => {
    const rows: number[] = [];
    const ended = signal<Response>();
    const { retry } = await orphaned(
      res => {
        let row = 0;
        const write = (): void => {
          const first = row;
          while (row < 20 && res.write(`${row++} `));
          rows.push(row - first);
          if (row < 20) res.once('drain', write);
          else ended.happens(res.end());
        };
        write();
      },
      {},
      before,
    );
    expect((await ended.happened).listenerCount('drain')).toBe(0);
    expect(rows).toEqual(turns);
    expect((await retry()).text).toBe([...Array(20).keys(), ''].join(' '));
  });

  it('finishes in the asynchronous context of its handler', async () => {
    const transaction = new AsyncLocalStorage<string>();
    const ended = signal<string | undefined>();
    await orphaned(res => {
      res.on('finish', () => {
        ended.happens(transaction.getStore());
      });
      transaction.run('of this request', () => res.send('done'));
    });
    expect(await ended.happened).toBe('of this request');
  });

  it.each<[string, (res: Response) => unknown, IdempotencyOptions]>([
    ['is refused by shouldCache', res => res.send('done'), { shouldCache: () => false }],
    ['is larger than maxResponseBytes', res => res.send('done'), { maxResponseBytes: 3 }],
    [
      'cannot be stored in time',
      res => res.send('done'),
      {
        storeTimeout: 100,
        leases: new HookedLeases({
          complete: () => {
            throw new Error('down');
          },
        }),
      },
    ],
    ['is shorter than its Content-Length', res => res.set('Content-Length', '5').end('half'), {}],
    [
      'was destroyed half-way',
      res => {
        res.write('half');
        res.destroy();
      },
      {},
    ],
  ])('closes without having finished if it %s', async (_title, handler, options) => {
    const { first, second } = await orphaned(handler, options);
    const closed = ['close false'];
    expect([await first.all(), await second.all()]).toEqual([closed, closed]);
  });

  it('finishes if it is stored and then breaks off half-way', async () => {
    const endings = new Endings();
    const app = express().post('/', endings.watch, idempotency({ maxResponseBytes: 60_000_000 }), (_req, res) =>
      res.send(Buffer.alloc(50_000_000)),
    );
    const { port } = await serve(app);
    const client = connect(port, '127.0.0.1').once('data', () => {
      client.destroy();
    });
    client.write(post(port, 'k'));
    expect(await endings.all()).toEqual(FINISHED);
  }, 60_000);

  it('finishes also if it waited for its turn on the connection, in any order', async () => {
    const endings = [new Endings(), new Endings(), new Endings()];
    const responses: Response[] = [];
    const [running, gone] = [signal(), signal()];
    const app = express().post('/', (req, res, next) =>
      endings[Number(req.get('Idempotency-Key'))]?.watch(req, res, next),
    );
    app.post('/', idempotency(), (_req, res) => {
      res.socket?.once('close', () => {
        setImmediate(gone.happens);
      });
      if (responses.push(res) === endings.length) running.happens();
    });
    const { port, url } = await serve(app);
    const client = connect(port, '127.0.0.1');
    for (const key of endings.keys()) client.write(post(port, `${key}`));
    await running.happened;
    client.destroy();
    await gone.happened;
    const end = async (index: number, by: (res: Response | undefined) => void): Promise<void> => {
      by(responses[index]);
      expect(await endings[index]?.all()).toEqual(FINISHED);
    };
    await end(1, res => res?.send('done'));
    await end(0, res => res?.send('done'));
    await end(2, res => res?.sendFile('run-end.spec.ts', { root: __dirname }));
    expect((await send(url, { headers: keyed('2', { 'X-Retry': '1' }) })).text).toContain('any order');
  });
});
