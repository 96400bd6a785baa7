import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { EventLog } from '../support/event-log';
import { HookedLeases } from '../support/hooked-leases';
import { onAbort } from '../support/on-abort';
import { serve } from '../support/serve';
import { signal, type Signal } from '../support/signal';
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
}

/** A request whose renewals are lost, so that a second one runs while the first still does; the first ends when it is told to. */
async function overtaken(
  end: RequestHandler,
  options: IdempotencyOptions = {},
  complete?: () => void | Promise<void>,
  secondBody?: string,
): Promise<Overtaken> {
  const log = new EventLog();
  const [begun, mayEnd, expired] = [signal(), signal(), signal()];
  let runs = 0;
  const aborted: string[] = [];
  const leases = new HookedLeases({ renew: never, ...(complete && { complete }) });
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
        void leases.leases.watch?.(req.idempotency.cacheKey, expired.happens);
        begun.happens();
        void mayEnd.happened.then(() => end(req, res, next));
      },
    ),
  );
  const post = (body?: string): Promise<WireResponse> => send(url, { headers: keyed('k'), ...(body && { body }) });
  const asked = performance.now();
  const first = post();
  await begun.happened;
  // On a machine that stands still for a lease before the handler begins, the second run is as early as its end.
  if (performance.now() - asked >= LEASE) {
    first.catch(() => undefined);
    return overtaken(end, options, complete, secondBody);
  }
  // Another body does not wait for the lease of the first.
  if (secondBody !== undefined) await expired.happened;
  const second = await post(secondBody);
  return {
    first,
    second,
    log,
    aborted,
    end: () => {
      mayEnd.happens();
    },
  };
}

describe('a run whose lease was lost to another', () => {
  it('has its signal aborted by then, however long a renewal is on its way', async () => {
    const { first, second, aborted, end } = await overtaken((_req, res) => {
      res.json({ run: 1 });
    });
    expect(second.text).toBe('{"run":2}');
    expect(aborted).toContain('run 1');
    end();
    await first;
  });

  it.each<[string, RequestHandler, IdempotencyOptions]>([
    [
      'would be stored',
      (_req, res) => {
        res.json({ run: 1 });
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
      (_req, res) => {
        res.status(500).json({ run: 1 });
      },
      { shouldCache: ({ status }) => status < 500 },
    ],
  ])('answers with the published response when its own %s', async (_title, handler, options) => {
    const { first, second, log, end } = await overtaken(handler, options);
    end();
    const answer = await first;
    expect([answer.status, answer.text]).toEqual([201, second.text]);
    expect(log.kinds).toEqual(['lease-lost', 'executed', 'replayed']);
  });

  it('answers 409 when the key now belongs to a request with another body: its handler has run', async () => {
    const respond: RequestHandler = (_req, res) => res.json({ run: 1 });
    const { first, second, log, end } = await overtaken(respond, { whenKeyReused: 'reject' }, undefined, 'another');
    end();
    const { status, text } = await first;
    expect([second.status, status]).toEqual([201, 409]);
    expect(text).toContain('The request was executed before and is not executed again');
    expect(log.kinds).toEqual(['lease-lost', 'executed', 'conflicted']);
  });

  it('answers with its own response when the store cannot be asked: the work is done', async () => {
    let completions = 0;
    const { first, second, end } = await overtaken(
      (_req, res) => {
        res.json({ run: 1 });
      },
      {},
      () => {
        if (++completions > 1) throw new Error('The store is down');
      },
    );
    end();
    expect([second.text, (await first).text]).toEqual(['{"run":2}', '{"run":1}']);
  });

  it.each([
    ['an HTTP/1.0 client', '1.0'],
    ['a client whose answer ends with the connection', '1.1'],
  ])('does not let %s take half of its answer for a whole one', async (_who, version) => {
    const [begun, mayEnd] = [signal(), signal()];
    let runs = 0;
    const log = new EventLog();
    const leases = new HookedLeases({ renew: never });
    const { url, port } = await serve(
      express().post(
        '/',
        idempotency({ leases, leaseDuration: LEASE, storeTimeout: 100, onEvent: log.onEvent }),
        (_req, res) => {
          if (++runs > 1) {
            res.end('second');
            return;
          }
          res.removeHeader('Transfer-Encoding');
          res.write('first half');
          begun.happens();
          void mayEnd.happened.then(() => res.end('of one'));
        },
      ),
    );
    const socket = connect(port, '127.0.0.1');
    const outcome = new Promise<string>(resolve => {
      socket
        .on('end', () => {
          resolve('a whole answer');
        })
        .on('error', ({ message }) => {
          resolve(message);
        });
    });
    socket.write(`POST / HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\n\r\n`);
    socket.resume();
    await begun.happened;
    expect((await send(url, { headers: keyed('k') })).text).toBe('second');
    mayEnd.happens();
    expect(await outcome).toMatch(/ECONNRESET/);
    expect(log.kinds).toEqual(['lease-lost', 'executed', 'not-stored']);
  });
});

/** A request whose run is overtaken: when that is known, it asks for the other run, and is answered when it is told to. */
async function askingForOther(
  respond: (res: Response, asked: Promise<void>) => unknown,
  whenOtherEnds: Promise<void> = Promise.resolve(),
) {
  const log = new EventLog();
  const [begun, otherBegun, mayEnd, asked, mayBeAnswered, failed] = Array.from({ length: 6 }, () => signal()) as Six;
  let token: string | undefined;
  const leases = new HookedLeases({
    renew: (_key, asking) => (asking === token ? never() : undefined),
    acquire: async (_key, asking) => {
      if (token === undefined) token = asking;
      else if (token === asking) {
        asked.happens();
        await mayBeAnswered.happened;
      }
    },
  });
  let runs = 0;
  const app = express().set('env', 'test');
  app.post('/', idempotency({ leases, leaseDuration: LEASE, onEvent: log.onEvent }), async (_req, res) => {
    if (++runs > 1) {
      otherBegun.happens();
      await whenOtherEnds;
      res.status(201).json({ run: 2 });
      return;
    }
    begun.happens();
    await mayEnd.happened;
    await respond(res, asked.happened);
  });
  const failing: ErrorRequestHandler = (error, _req, res, next) => {
    failed.happens();
    if (res.headersSent) next(error);
    else res.status(500).send('in place of the other');
  };
  app.use(failing);
  const { url } = await serve(app);
  return { url, log, begun, otherBegun, mayEnd, asked, mayBeAnswered, failed };
}

type Six = [Signal, Signal, Signal, Signal, Signal, Signal];

describe('a response that another run has overtaken counts as sent until that is answered with', () => {
  it.each<[string, (res: Response) => unknown]>([
    [
      'the handler rejects',
      () => {
        throw new Error('after the response');
      },
    ],
    ['the handler responds once more', res => res.status(500).json({ run: 1 })],
    [
      'the handler ends it once more',
      res => {
        res.end();
        throw new Error('after the response');
      },
    ],
  ])('when %s', async (_what, act) => {
    const { url, log, ...steps } = await askingForOther(async (res, asked) => {
      res.json({ run: 1 });
      await asked;
      act(res);
    });
    const first = send(url, { headers: keyed('k') });
    await steps.begun.happened;
    const second = await send(url, { headers: keyed('k') });
    steps.mayEnd.happens();
    await steps.failed.happened;
    steps.mayBeAnswered.happens();
    const answer = await first;
    expect([answer.status, answer.text]).toEqual([201, second.text]);
    expect(log.kinds).toEqual(['lease-lost', 'executed', 'replayed']);
  });
});

describe('a client that leaves after its run was overtaken', () => {
  const leaving = (url: string): { leave: () => void } => {
    const client = request(url, { method: 'POST', headers: keyed('k'), agent: false }).on('error', () => undefined);
    client.end();
    return { leave: () => client.destroy() };
  };

  it('is not answered, and its handler is told', async () => {
    const told = signal();
    const { url, log, ...steps } = await askingForOther(res => {
      res.once('close', told.happens).json({ run: 1 });
    });
    const client = leaving(url);
    await steps.begun.happened;
    await send(url, { headers: keyed('k') });
    steps.mayEnd.happens();
    await steps.asked.happened;
    client.leave();
    await told.happened;
    steps.mayBeAnswered.happens();
    await log.first('abandoned');
    expect(log.kinds).toEqual(['lease-lost', 'executed', 'abandoned']);
  });

  it('is not waited for until the other run ends', async () => {
    const otherMayEnd = signal();
    const { url, log, ...steps } = await askingForOther(res => res.json({ run: 1 }), otherMayEnd.happened);
    const client = leaving(url);
    await steps.begun.happened;
    const second = send(url, { headers: keyed('k') });
    await steps.otherBegun.happened;
    steps.mayEnd.happens();
    steps.mayBeAnswered.happens();
    await steps.asked.happened;
    client.leave();
    await log.first('abandoned');
    expect(log.kinds).toEqual(['lease-lost', 'abandoned']);
    otherMayEnd.happens();
    expect((await second).text).toBe('{"run":2}');
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
        (_req, res) => {
          res.json({ run: ++runs });
        },
      ),
    );
    const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
    const first = post();
    await asked.happened;
    return {
      first,
      post,
      log,
      answer: () => {
        mayAnswer.happens();
      },
      runs: () => runs,
    };
  };

  it('is not a right to run: a response published meanwhile is replayed', async () => {
    const { first, post, answer, runs } = await held(1);
    const published = await post();
    expect(published.text).toBe('{"run":1}');
    answer();
    expect((await first).text).toBe('{"run":1}');
    expect(runs()).toBe(1);
  });

  it('is asked for again, and taken if it is free', async () => {
    const { first, answer, runs } = await held(1);
    setTimeout(answer, LEASE + 50);
    expect((await first).text).toBe('{"run":1}');
    expect(runs()).toBe(1);
  });
});

describe('a store that takes longer than a lease for every answer', () => {
  it('gets its requests refused, and is not asked forever', async () => {
    const leases = new HookedLeases(
      {},
      {
        acquire: () =>
          new Promise(resolve => {
            setTimeout(resolve, 60);
          }),
      },
    );
    const { url } = await serve(
      express().post('/', idempotency({ leases, leaseDuration: 30, storeTimeout: 1_000 }), (_req, res) => {
        res.json({});
      }),
    );
    expect((await send(url, { headers: keyed('k') })).status).toBe(503);
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
        renew: () => {
          renewed.happens();
        },
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
    expect(log.kinds).toEqual(['not-stored']);
  });

  it('is answered when a middleware below throws at the end of its response', async () => {
    const app = express().set('env', 'test');
    let isBroken = true;
    app.use((_req, res, next) => {
      const { end } = res;
      res.end = function ended(this: typeof res, ...args: unknown[]) {
        if (isBroken) {
          isBroken = false;
          throw new Error('broken below');
        }
        return end.apply(this, args as never);
      } as typeof end;
      next();
    });
    app.post('/', idempotency(), (_req, res) => {
      res.json({ run: 1 });
    });
    const { url } = await serve(app);
    expect((await send(url, { headers: keyed('k') })).status).toBe(500);
    expect((await send(url, { headers: keyed('k') })).text).toBe('{"run":1}');
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
