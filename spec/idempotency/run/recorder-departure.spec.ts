import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';
import { signal } from '../../support/signal';

const LEASE = 300;

const closing = ({ socket }: Response): Promise<unknown> => new Promise(resolve => socket?.once('close', resolve));

describe.each(expressVersions)('on %s, a handler whose client has left', (_version, version) => {
  /** Serves a handler, which makes its client leave, and notes what `res` emits; then one request is sent. */
  const served = async (
    options: IdempotencyOptions,
    handler: (res: Response, leave: () => void, req: Request) => unknown,
  ) => {
    const events: string[] = [];
    const closed = signal();
    const act = (req: Request, res: Response): unknown => {
      res
        .on('finish', () => events.push('finish'))
        .on('close', () => {
          events.push('close');
          closed.happens();
        });
      return handler(res, () => client.resetAndDestroy(), req);
    };
    const around = { version };
    const one = await guarded({ leaseDuration: LEASE, whenInFlight: 'reject', ...options }, act, around);
    const client = connect(one.port, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    client.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${one.port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`);
    return { ...one, events, closed: closed.happened };
  };

  it('goes on: res emits no close until its response is stored', async () => {
    const state: unknown[] = [];
    const { post, events, closed } = await served({ leaseDuration: 30_000 }, async (res, leave) => {
      const gone = closing(res);
      res.write('first, ');
      leave();
      await gone;
      state.push([...events], res.destroyed, res.socket);
      Readable.from(['second, ', 'last']).pipe(res);
    });
    await closed;
    expect([state, events]).toEqual([
      [[], false, null],
      ['finish', 'close'],
    ]);
    expect(seen(await post())).toBe('first, second, last again');
  }, 60_000);

  it.each<[string, IdempotencyOptions, (res: Response) => unknown]>([
    ['leaseDuration after it has written last', {}, res => res.write('half')],
    ['cacheDuration after the departure if it has written nothing', { cacheDuration: 2 * LEASE }, () => undefined],
  ])('and that never ends has run, %s: there is no response, and nothing runs again', async (_when, options, begin) => {
    let left = 0;
    const { post, log, events, closed, runs } = await served(options, (res, leave) => {
      begin(res);
      left = performance.now();
      leave();
    });
    await log.first('not-stored');
    expect(performance.now() - left).toBeGreaterThan((options.cacheDuration ?? LEASE) - 20);
    await closed;
    expect([events, seen(await post()), runs()]).toEqual([
      ['close'],
      expect.stringContaining('urn:bindonce:response-unavailable'),
      1,
    ]);
  });

  it('and that goes on writing is over leaseDuration after it has stopped', async () => {
    const { log } = await served({}, (res, leave) => {
      res.write('0');
      leave();
      let count = 0;
      const beat = setInterval(() => {
        res.write(String(++count));
        if (count === 20) clearInterval(beat);
      }, LEASE / 10);
    });
    expect((await log.first('not-stored')).durationMs).toBeGreaterThan(2 * LEASE);
  }, 60_000);

  it.each(['before', 'after'])('and that calls forget() %s that is told at once, as without us', async when => {
    const { events, closed } = await served({ leaseDuration: 30_000 }, async (res, leave, req) => {
      const gone = closing(res);
      if (when === 'before') req.idempotency.forget();
      leave();
      await gone;
      if (when === 'after') req.idempotency.forget();
    });
    await closed;
    expect(events).toEqual(['close']);
  });
});
