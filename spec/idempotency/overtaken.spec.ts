import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { EventLog } from '../support/event-log';
import { HookedLeases, type Hooks } from '../support/hooked-leases';
import { onAbort } from '../support/on-abort';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { TemporaryDirectory } from '../support/temporary-directory';
import { keyed } from '../support/replays';

const LEASE = 150;
const never = (): Promise<void> => new Promise(() => undefined);

interface Overtaken {
  readonly first: Promise<WireResponse>;
  readonly second: WireResponse;
  readonly log: EventLog;
  readonly aborted: readonly string[];
  readonly end: () => void;
  readonly retry: () => Promise<WireResponse>;
}

/** A request whose renewals are lost, so that a second one runs while the first still does; the first ends when it is told to. */
async function overtaken(end: RequestHandler, options: IdempotencyOptions = {}, hooks: Hooks = {}): Promise<Overtaken> {
  const log = new EventLog();
  const [begun, mayEnd] = [signal(), signal()];
  let runs = 0;
  const aborted: string[] = [];
  const leases = new HookedLeases({ renew: never, ...hooks });
  const { url } = await serve(
    express().post(
      '/',
      idempotency({ leases, leaseDuration: LEASE, storeTimeout: 100, onEvent: log.onEvent, ...options }),
      (req, res, next) => {
        const run = ++runs;
        onAbort(req.idempotency.signal, () => {
          aborted.push(`run ${run}`);
        });
        if (run > 1) {
          res.status(201).json({ run });
          return;
        }
        begun.happens();
        void mayEnd.happened.then(() => end(req, res, next));
      },
    ),
  );
  const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
  const asked = performance.now();
  const first = post();
  await begun.happened;
  // On a machine that stands still for a lease before the handler begins, the second run is as early as its end.
  if (performance.now() - asked >= LEASE) {
    first.catch(() => undefined);
    return overtaken(end, options, hooks);
  }
  const second = await post();
  return {
    first,
    second,
    log,
    aborted,
    end: () => mayEnd.happens(),
    retry: post,
  };
}

describe('a run whose lease was lost to another', () => {
  it('has its signal aborted by then, however long a renewal is on its way', async () => {
    const { first, second, aborted, end } = await overtaken((_req, res) => void res.json({ run: 1 }));
    expect(second.text).toBe('{"run":2}');
    expect(aborted).toContain('run 1');
    end();
    await expect(first).rejects.toThrow();
  });

  it.each<[string, RequestHandler, IdempotencyOptions]>([
    ['would be stored', (_req, res) => void res.json({ run: 1 }), {}],
    [
      'has begun',
      (_req, res) => {
        res.write('run 1');
        res.end();
      },
      {},
    ],
    [
      'was to be forgotten',
      (req, res) => {
        req.idempotency.forget();
        res.status(500).json({ run: 1 });
      },
      {},
    ],
    [
      'is not wanted by shouldCache',
      (_req, res) => void res.status(500).json({ run: 1 }),
      { shouldCache: ({ status }) => status < 500 },
    ],
  ])(
    'has its connection closed when its own response %s, and its retry gets the published one',
    async (_title, handler, options) => {
      const { first, second, log, end, retry } = await overtaken(handler, options);
      end();
      await expect(first).rejects.toThrow();
      expect((await retry()).text).toBe(second.text);
      // Which of the two processes is first to tell of the other's lease is not promised.
      expect([...log.kinds].sort()).toEqual(['executed', 'lease-lost', 'not-stored', 'replayed']);
    },
  );

  it('answers with its own response when the store cannot be asked: the work is done', async () => {
    let isDown = false;
    const fail = (): void => {
      if (isDown) throw new Error('The store is down');
    };
    const { first, second, end } = await overtaken(
      (_req, res) => void res.json({ run: 1 }),
      {},
      { acquire: fail, complete: fail },
    );
    isDown = true;
    end();
    expect([second.text, (await first).text]).toEqual(['{"run":2}', '{"run":1}']);
  });
});

it('a response that breaks off closes a connection that cannot be reset: an HTTP/1.0 client over a Unix socket', async () => {
  const app = express().post('/', idempotency(), (_req, res) => {
    res.set('Content-Length', '100').write('half of it');
    res.end();
  });
  const folder = new TemporaryDirectory();
  const path = join(folder.path, 'socket');
  const server = createServer(app).listen(path);
  try {
    await once(server, 'listening');
    const socket = connect(path).resume();
    socket.write('POST / HTTP/1.0\r\nHost: 127.0.0.1\r\nIdempotency-Key: over-unix\r\n\r\n');
    await once(socket, 'close');
  } finally {
    server.close();
    folder.remove();
  }
});

describe('a right to run that was longer on its way than its lease', () => {
  const held = async (delays: number) => {
    const [asked, mayAnswer] = [signal(), signal()];
    let answers = 0;
    const leases = new HookedLeases(
      {},
      {
        acquire: async () => {
          if (++answers > delays) return;
          asked.happens();
          await mayAnswer.happened;
        },
      },
    );
    let runs = 0;
    const log = new EventLog();
    const { url } = await serve(
      express().post(
        '/',
        idempotency({ leases, leaseDuration: LEASE, storeTimeout: 20_000, onEvent: log.onEvent }),
        (_req, res) => void res.json({ run: ++runs }),
      ),
    );
    const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
    const first = post();
    await asked.happened;
    return {
      first,
      post,
      log,
      answer: () => mayAnswer.happens(),
      runs: () => runs,
    };
  };

  it('is not a right to run: the request gets 503, and its retry what was published meanwhile', async () => {
    const { first, post, answer, runs } = await held(1);
    const published = await post();
    expect(published.text).toBe('{"run":1}');
    answer();
    expect([(await first).status, (await post()).text]).toEqual([503, '{"run":1}']);
    expect(runs()).toBe(1);
  });
});

describe('a request', () => {
  it('that was forgotten has lost no lease, even if a renewal comes in between', async () => {
    const log = new EventLog();
    const releasing = signal();
    const renewed = signal();
    const leases = new HookedLeases(
      {
        release: async () => {
          releasing.happens();
          await Promise.race([
            renewed.happened,
            new Promise(resolve => {
              setTimeout(resolve, (2 * LEASE) / 3);
            }),
          ]);
        },
      },
      {
        renew: () => renewed.happens(),
      },
    );
    const { url } = await serve(
      express().post('/', idempotency({ leases, leaseDuration: LEASE, onEvent: log.onEvent }), (req, res) => {
        req.idempotency.forget();
        res.end();
      }),
    );
    await send(url, { headers: keyed('k') });
    await releasing.happened;
    expect(log.kinds).toEqual(['forgotten']);
  });

  it('is answered by the caller of the middleware when `next` itself throws, and its key is free', async () => {
    const guard = idempotency({ leases: memoryLeases() });
    let runs = 0;
    const server = createServer((req, res) => {
      guard(req, res, error => {
        if (error) {
          res.statusCode = 500;
          res.end('failed');
          return;
        }
        if (++runs === 1) throw new Error('no luck');
        res.end('done');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const post = (): Promise<WireResponse> => send(`http://127.0.0.1:${port}/`, { headers: keyed('k') });
    expect((await post()).text).toBe('failed');
    expect((await post()).text).toBe('done');
    server.close();
  });
});
