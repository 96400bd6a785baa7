import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

const LEASE = 300;

const post = (client: Socket, key: string): string =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${client.remotePort}\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n\r\n`;

describe.each(expressVersions)('on %s, a handler whose client has left', (_version, express) => {
  /** Serves a handler, which notes what `res` emits. */
  const served = async (options: IdempotencyOptions, handler: (req: Request, res: Response) => unknown) => {
    const log = new EventLog();
    const events: string[] = [];
    const closed = signal();
    let runs = 0;
    const noted: RequestHandler = (req, res) => {
      runs++;
      res.on('finish', () => events.push('finish'));
      res.on('close', () => {
        events.push('close');
        closed.happens();
      });
      return handler(req, res) as undefined;
    };
    const guard = idempotency({ onEvent: log.onEvent, leaseDuration: LEASE, whenInFlight: 'reject', ...options });
    const { url, server } = await serve(express().post('/', guard, noted));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    return { url, client, log, events, closed, runs: () => runs };
  };
  it('goes on: res emits no close until its response is stored', async () => {
    const gone = signal();
    const { url, client, events, closed } = await served({ leaseDuration: 30_000 }, async (_req, res) => {
      res.socket?.once('close', () => gone.happens());
      res.write('first, ');
      client.resetAndDestroy();
      await gone.happened;
      expect([events, res.destroyed, res.socket]).toEqual([[], false, null]);
      Readable.from(['second, ', 'last']).pipe(res);
    });
    client.write(post(client, 'k'));
    await closed.happened;
    expect(events).toEqual(['finish', 'close']);
    expect((await send(url, { headers: keyed('k') })).text).toBe('first, second, last');
  }, 60_000);

  it.each<[string, IdempotencyOptions, (res: Response) => unknown]>([
    ['leaseDuration after it has written last', {}, res => res.write('half')],
    ['cacheDuration after the departure if it has written nothing', { cacheDuration: 2 * LEASE }, () => undefined],
  ])('and that never ends has run, %s: there is no response, and nothing runs again', async (_when, options, begin) => {
    let left = 0;
    const { url, client, log, events, closed, runs } = await served(options, (_req, res) => {
      begin(res);
      left = performance.now();
      client.resetAndDestroy();
    });
    client.write(post(client, 'k'));
    await log.first('not-stored');
    expect(performance.now() - left).toBeGreaterThan((options.cacheDuration ?? LEASE) - 20);
    await closed.happened;
    expect(events).toEqual(['close']);
    expect((await send(url, { headers: keyed('k') })).text).toContain('urn:bindonce:response-unavailable');
    expect(runs()).toBe(1);
  });

  it('and that goes on writing is over leaseDuration after it has stopped', async () => {
    const { client, log } = await served({}, (_req, res) => {
      res.write('0');
      client.resetAndDestroy();
      let count = 0;
      const beat = setInterval(() => {
        res.write(String(++count));
        if (count === 20) clearInterval(beat);
      }, LEASE / 10);
    });
    client.write(post(client, 'k'));
    const { durationMs } = await log.first('not-stored');
    expect(durationMs).toBeGreaterThan(2 * LEASE);
  }, 60_000);

  it.each(['before', 'after'])('and that calls forget() %s that is told at once, as without us', async when => {
    const { client, events, closed } = await served({ leaseDuration: 30_000 }, async (req, res) => {
      const { socket } = res;
      if (when === 'before') req.idempotency.forget();
      client.resetAndDestroy();
      await new Promise(resolve => socket?.once('close', resolve));
      if (when === 'after') req.idempotency.forget();
    });
    client.write(post(client, 'k'));
    await closed.happened;
    expect(events).toEqual(['close']);
  });
});
