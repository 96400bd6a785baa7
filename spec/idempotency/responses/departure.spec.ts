import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { bindRequest, dto, file, idempotency, type IdempotencyOptions } from '../../../lib';
import { Departure } from '../../../lib/idempotency/responses/departure';
import { MAX_TIMER } from '../../../lib/options/check';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { collectGarbage } from '../../support/garbage';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { onAbort } from '../../support/on-abort';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const LEASE = 400;

describe.each(expressVersions)('on %s, a handler whose client has gone', (_version, express) => {
  /** Runs `handler` for a client that leaves once the handler has returned. */
  const orphaned = async (options: IdempotencyOptions, handler: (req: Request, res: Response) => unknown) => {
    const log = new EventLog();
    const [running, gone] = [signal<[Request, Response]>(), signal()];
    const told: number[] = [];
    const state = { runs: 0, closes: told };
    const app = express().post(
      '/',
      idempotency({ onEvent: log.onEvent, leaseDuration: LEASE, whenInFlight: 'reject', ...options }),
      async (req, res) => {
        if (++state.runs > 1) return void res.send('second');
        res.socket?.once('close', () => {
          gone.happens();
        });
        res.on('close', () => {
          told.push(performance.now());
        });
        await handler(req, res);
        running.happens([req, res]);
      },
    );
    const { url } = await serve(app);
    const client = request(url, { method: 'POST', headers: keyed('k'), agent: false }).on('error', () => undefined);
    client.end();
    const [req, res] = await running.happened;
    const since = performance.now();
    client.destroy();
    await gone.happened;
    return {
      req,
      res,
      log,
      state,
      since,
      closed: async () => {
        if (told.length === 0) await once(res, 'close');
        return (told[0] ?? 0) - since;
      },
      retry: () => send(url, { headers: keyed('k') }),
    };
  };
  const typeOf = (text: string): unknown => (JSON.parse(text) as { type?: string }).type;

  it('and that streams events is told `close` after its lease, once: its interval is cleared, and it has run', async () => {
    let interval: NodeJS.Timeout | undefined;
    let beats = 0;
    const { closed, log, state, retry } = await orphaned({}, (req, res) => {
      res.type('text/event-stream').write('data: hello\n\n');
      interval = setInterval(() => {
        beats++;
        res.write('data: beat\n\n');
      }, 10);
      req.on('close', () => {
        clearInterval(interval);
      });
    });
    const after = await closed();
    expect(after).toBeGreaterThan(LEASE - 20);
    expect(after).toBeLessThan(LEASE + 20_000);
    const beaten = beats;
    await log.first('not-stored');
    expect([beaten > 0, beats, state.closes.length]).toEqual([true, beaten, 1]);
    const answer = await retry();
    expect([answer.status, typeOf(answer.text), state.runs]).toEqual([409, 'urn:bindonce:response-unavailable', 1]);
  }, 60_000);

  it('may continue after it was told: its response is stored, and a retry gets it', async () => {
    const continued = async (leaseDuration: number): Promise<boolean> => {
      const { res, closed, log, state, retry } = await orphaned({ leaseDuration }, (_req, response) => {
        response.write('first, ');
      });
      await closed();
      if (!res.write('second, ')) await once(res, 'drain');
      for (let piece = 0; piece < 6; piece++) {
        await pause(leaseDuration / 2);
        res.write(`${piece}, `);
      }
      res.end('last');
      const { kind } = await Promise.race([log.first('executed'), log.first('not-stored')]);
      if (kind === 'not-stored') return false;
      expect(res.destroyed).toBe(true);
      expect((await retry()).text).toBe('first, second, 0, 1, 2, 3, 4, 5, last');
      expect([state.runs, state.closes.length]).toEqual([1, 1]);
      return true;
    };
    // On a machine that stands still for as long as a lease, the handler seems to write nothing.
    for (const leaseDuration of [LEASE, 5 * LEASE, 20 * LEASE]) if (await continued(leaseDuration)) return;
    throw new Error('The response of a handler that continued was never stored');
  }, 120_000);

  it('and that has written more than its client took goes on by `pipe`: its response is stored', async () => {
    const much = 'a'.repeat(8_000_000);
    const { res, log, retry } = await orphaned({ leaseDuration: 60_000 }, (_req, response) => {
      response.write(much);
    });
    Readable.from(['second, ', 'third']).pipe(res);
    await log.first('executed');
    expect((await retry()).text).toBe(`${much}second, third`);
  }, 60_000);

  it('and that streams without a pause lets other code run', async () => {
    const { res, log, retry } = await orphaned({ leaseDuration: 60_000 }, (_req, response) => {
      response.write('first, ');
    });
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    let left = 100_000;
    const source = new Readable({
      read() {
        this.push(left-- > 0 ? 'more, ' : null);
      },
    });
    source.pipe(res);
    await log.first('executed');
    clearInterval(counting);
    expect(turns).toBeGreaterThan(10);
    expect((await retry()).text).toBe(`first, ${'more, '.repeat(100_000)}`);
  }, 60_000);

  it.each<[string, (source: PassThrough, req: Request, res: Response) => unknown]>([
    [
      'a pipeline',
      (source, _req, res) => {
        pipeline(source, res).catch(() => undefined);
      },
    ],
    [
      'res.destroy()',
      (_source, _req, res) => {
        res.flushHeaders();
        res.on('close', () => {
          res.destroy();
        });
      },
    ],
    [
      'req.socket.destroy()',
      (_source, req, res) => {
        res.flushHeaders();
        res.on('close', () => {
          req.socket.destroy();
        });
      },
    ],
  ])(
    'and that destroys its response once it was told, by %s, has run: nothing is kept, and nothing runs again',
    async (_title, begin) => {
      const source = new PassThrough();
      source.write('half');
      const { log, state, closed, retry } = await orphaned({}, (req, res) => begin(source, req, res));
      await closed();
      await log.first('not-stored');
      const answer = await retry();
      expect([answer.status, typeOf(answer.text), state.runs]).toEqual([409, 'urn:bindonce:response-unavailable', 1]);
    },
    60_000,
  );

  it('and that gives up before it was told by the response has run: it may have learned it elsewhere', async () => {
    const { res, log, state, retry } = await orphaned({ leaseDuration: 10_000 }, (_req, res) => {
      res.write('half');
    });
    res.destroy();
    await log.first('not-stored');
    const answer = await retry();
    expect([answer.status, state.runs, state.closes.length]).toEqual([409, 1, 1]);
  }, 60_000);

  it.each<[string, (source: PassThrough, res: Response) => unknown]>([
    [
      'the socket, by which it ends the source of a pipeline',
      (source, res) => {
        res.socket?.once('close', () => source.destroy());
        pipeline(source, res).catch(() => undefined);
      },
    ],
    [
      'the socket, by which it aborts a pipeline',
      (source, res) => {
        const controller = new AbortController();
        res.socket?.once('close', () => {
          controller.abort();
        });
        pipeline(source, res, { signal: controller.signal }).catch(() => undefined);
      },
    ],
    [
      'the socket, by which it destroys its response',
      (source, res) => {
        source.pipe(res);
        res.socket?.once('close', () => res.destroy());
      },
    ],
  ])(
    'and that learns it from %s has run: nothing is kept, and nothing runs again',
    async (_title, begin) => {
      const source = new PassThrough();
      source.write('half');
      const { log, state, retry } = await orphaned({ leaseDuration: 10_000 }, (_req, res) => begin(source, res));
      await log.first('not-stored');
      const answer = await retry();
      expect([answer.status, typeOf(answer.text), state.runs]).toEqual([409, 'urn:bindonce:response-unavailable', 1]);
    },
    60_000,
  );

  it('and that begins to respond only later is told a lease after it has begun', async () => {
    const { res, closed, log, since, retry } = await orphaned({}, () => undefined);
    await pause(1.5 * LEASE);
    const begun = performance.now() - since;
    res.write('late, ');
    expect(await closed()).toBeGreaterThan(begun + LEASE - 20);
    res.end('but whole');
    await log.first('executed');
    expect((await retry()).text).toBe('late, but whole');
  }, 60_000);

  it.each<[string, boolean, boolean]>([
    ['before', true, true],
    ['after', false, true],
    ['before, without having begun,', true, false],
  ])(
    'is told at once when it calls forget() %s the client goes',
    async (_title, early, begins) => {
      const { req, res, log, state, closed, retry } = await orphaned({ leaseDuration: 60_000 }, (req, res) => {
        if (begins) res.write('half');
        if (early) req.idempotency.forget();
      });
      if (!early) {
        await pause(20);
        expect(state.closes).toEqual([]);
        req.idempotency.forget();
      }
      expect(await closed()).toBeLessThan(20_000);
      res.end();
      await log.first('not-stored');
      expect([(await retry()).text, state.closes.length]).toEqual(['second', 1]);
    },
    60_000,
  );

  it.each<[string, boolean]>([
    ['before', true],
    ['after', false],
  ])(
    'is told at once when its lease is lost %s the client goes',
    async (_title, early) => {
      const leases = new HookedLeases({ renew: () => new Promise(() => undefined) });
      const leaseDuration = 2_000;
      const { req, state, closed } = await orphaned({ leases, leaseDuration, storeTimeout: 50 }, async (req, res) => {
        res.flushHeaders();
        // The client goes long before the handler would be told without a lost lease, a leaseDuration after that.
        if (early) await new Promise<void>(resolve => onAbort(req.idempotency.signal, resolve));
        else await pause(leaseDuration / 2);
      });
      await closed();
      expect([req.idempotency.signal.aborted, state.closes.length]).toEqual([true, 1]);
    },
    60_000,
  );

  it('and that never begins is told when cacheDuration is over: nothing of its request stays, and the key is free', async () => {
    const { req, closed, state, log, retry } = await orphaned(
      { leaseDuration: 500, cacheDuration: 2_000 },
      () => undefined,
    );
    const { signal: over } = req.idempotency;
    const early = await retry();
    expect(over.aborted || early.status === 409).toBe(true);
    const after = await closed();
    if (!over.aborted) await once(over, 'abort');
    await log.first('not-stored');
    expect(after).toBeGreaterThan(1_500);
    expect([(await retry()).text, state.runs, state.closes.length]).toEqual(['second', 2, 1]);
  }, 60_000);

  it('and that has run for longer than cacheDuration by then keeps its key', async () => {
    // On a machine that stands still for as long once the client has gone, the key is free.
    for (const cacheDuration of [300, 1_500, 7_500]) {
      const handler = (): Promise<void> => pause(2 * cacheDuration);
      const { req, res, log, state, retry } = await orphaned({ leaseDuration: 60_000, cacheDuration }, handler);
      const early = await retry();
      if (req.idempotency.signal.aborted) continue;
      expect([early.status, state.runs]).toEqual([409, 1]);
      res.send('late');
      await log.first('executed');
      expect([(await retry()).text, state.runs]).toEqual(['late', 1]);
      return;
    }
    throw new Error('The key was never kept for a moment');
  }, 60_000);

  it.each<[string, (req: Request, res: Response) => unknown]>([
    ['destroys its response', (_req, res) => res.write('half') && res.destroy()],
    ['throws in the middle of its response', (req, res) => res.write('half') && req.next?.(new Error('broken'))],
  ])('or that %s learns by its signal, at once, that others may run', async (_how, breakOff) => {
    const over: boolean[] = [];
    const app = express()
      .set('env', 'test')
      .post('/', idempotency(), (req, res) => {
        const { signal: lost } = req.idempotency;
        lost.addEventListener('abort', () => over.push(lost.aborted));
        if (over.length > 0) res.send('second');
        else breakOff(req, res);
      });
    const { url } = await serve(app);
    await expect(send(url, { headers: keyed('k') })).rejects.toThrow();
    expect([(await send(url, { headers: keyed('k') })).text, over]).toEqual(['second', [true]]);
  });

  it('and that goes on writing for cacheDuration has run', async () => {
    let interval: NodeJS.Timeout | undefined;
    const { log, state, retry } = await orphaned({ leaseDuration: 300, cacheDuration: 800 }, (_req, res) => {
      res.flushHeaders();
      interval = setInterval(() => {
        res.write('.');
      }, 5);
    });
    await log.first('not-stored');
    clearInterval(interval);
    expect([(await retry()).status, state.runs, state.closes.length]).toEqual([409, 1, 1]);
  }, 60_000);

  it('and that ends its response is told once, after the response is stored', async () => {
    const completing = signal();
    const mayComplete = signal();
    const leases = new HookedLeases({
      complete: () => {
        completing.happens();
        return mayComplete.happened;
      },
    });
    const { res, log, state } = await orphaned({ leases }, () => undefined);
    Readable.from(['do', 'ne']).pipe(res);
    await completing.happened;
    expect(state.closes).toEqual([]);
    mayComplete.happens();
    await log.first('executed');
    await new Promise(setImmediate);
    expect(state.closes).toHaveLength(1);
  }, 60_000);
});

/** How many files of a folder this process has open; a spooled body has no name. */
function spooledIn({ path }: TemporaryDirectory): number {
  const link = (descriptor: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter(descriptor => link(descriptor).startsWith(path)).length;
}

describe('the resources of a request whose client has gone and whose handler never ends', () => {
  const [, express] = expressVersions[0] ?? [];
  const temporary = new TemporaryDirectory();
  const stored = new TemporaryDirectory();
  beforeAll(() => {
    jest.spyOn(os, 'tmpdir').mockReturnValue(temporary.path);
  });
  afterAll(() => {
    jest.restoreAllMocks();
    for (const directory of [temporary, stored]) directory.remove();
  });

  it.each<[string, RequestHandler]>([
    ['never begins', () => undefined],
    [
      'writes half of its response',
      (_req, res) => {
        res.write('half');
      },
    ],
  ])(
    'goes with it: the files of an upload, when the handler %s',
    async (_title, handler) => {
      if (!express) throw new Error('There is no Express');
      class Upload extends dto({ photo: file }) {}
      const running = signal();
      const app = express().post(
        '/',
        idempotency({ leaseDuration: 300, cacheDuration: 900 }),
        bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: stored.path } }),
        (req, res, next) => {
          void handler(req, res, next);
          running.happens();
        },
      );
      const { url } = await serve(app);
      const form = new FormData();
      form.append('photo', new File([Buffer.alloc(1_500_000)], 'a.png'));
      const abort = new AbortController();
      const sent = fetch(url, { method: 'POST', headers: keyed('k'), body: form, signal: abort.signal })
        .then(async answer => answer.text())
        .catch(() => 'gone');
      await running.happened;
      expect([stored.files.length, spooledIn(temporary)]).toEqual([1, 1]);
      abort.abort();
      expect(await sent).toBe('gone');
      await stored.emptied();
      while (spooledIn(temporary) > 0) await new Promise(setImmediate);
    },
    60_000,
  );

  it('is collected: three hundred such requests leave nothing behind', async () => {
    if (!express) throw new Error('There is no Express');
    const REQUESTS = 300;
    const log = new EventLog();
    const requests: WeakRef<Request>[] = [];
    let running = 0;
    const app = express().post(
      '/',
      idempotency({ leaseDuration: 500, cacheDuration: 1_500, onEvent: log.onEvent }),
      (req, res) => {
        running++;
        requests.push(new WeakRef(req));
        if (running % 2) res.write('half');
      },
    );
    const { url } = await serve(app);
    for (let batch = 0; batch < REQUESTS; batch += 100) {
      const clients = Array.from({ length: 100 }, (_, index) => {
        const client = request(url, { method: 'POST', headers: keyed(String(batch + index)), agent: false }).on(
          'error',
          () => undefined,
        );
        client.end();
        return client;
      });
      while (running < batch + 100) await new Promise(setImmediate);
      for (const client of clients) client.destroy();
    }
    while (log.events.length < REQUESTS) await pause(10);
    await pause(20);
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    expect(requests.filter(one => one.deref() !== undefined).length).toBeLessThan(20);
  }, 60_000);
});

it('the longest lease does not exceed the delay of a timer, whatever the time is', () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const times = { leaseDuration: MAX_TIMER, cacheDuration: 2 * MAX_TIMER };
  for (let count = 0; count < 100; count++) {
    const departure = new Departure(times, { emitClose: () => undefined, giveUpOnEnd: () => undefined });
    departure.clientLeft();
    departure.stop();
  }
  const delays = timers.mock.calls.map(([, delay]) => delay);
  timers.mockRestore();
  expect(delays).toHaveLength(100);
  expect(Math.max(...delays.map(Number))).toBeLessThanOrEqual(MAX_TIMER);
});
