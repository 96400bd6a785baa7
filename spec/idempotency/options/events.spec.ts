import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { idempotency, type IdempotencyEvent, type IdempotencyOptions } from '../../../lib';
import { guarded, type Run } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { keyed } from '../../support/replays';
import { signal } from '../../support/signal';

const created: Run = (_req, res) => res.status(201).send('x');
const down = (): never => {
  throw new Error('ECONNREFUSED');
};
const storeIsDown = (at: 'acquire' | 'complete') => ({ leases: new HookedLeases({ [at]: down }), storeTimeout: 40 });
const unavailable = expect.objectContaining({ code: 'store-unavailable' }) as Error;
const text = { 'Content-Type': 'text/plain' };

/** An application whose handler, once it has begun, answers when a second request of its key has asked for the lease. */
async function whileOneWaits(ms: number) {
  const [begun, waits, mayEnd] = [signal(), signal(), signal()];
  let asked = 0;
  const leases = new HookedLeases({}, { acquire: () => (++asked === 2 ? waits.happens() : undefined) });
  const served = await guarded({ leases }, async (_req, res) => {
    begun.happens();
    await mayEnd.happened;
    res.status(201).end();
  });
  const first = served.post();
  await begun.happened;
  const end = async (): Promise<void> => {
    await pause(ms);
    mayEnd.happens();
    await first;
  };
  return { ...served, waits: waits.happened, end };
}

describe('onEvent', () => {
  const forgets: Run = (req, res) => res.end(req.idempotency.forget());
  const changesItsMind: Run = (_req, res) => {
    res.status(201).json({});
    res.status(500);
  };
  it.each<[string, IdempotencyOptions, Run, string[], Partial<IdempotencyEvent>[]]>([
    [
      'executed and replayed',
      {},
      created,
      ['', ''],
      [
        { kind: 'executed', status: 201 },
        { kind: 'replayed', status: 201 },
      ],
    ],
    ['executed for an error too', {}, (_req, res) => res.status(500).end(), [''], [{ kind: 'executed', status: 500 }]],
    [
      'the status that was sent, not one that the handler sets afterwards',
      {},
      changesItsMind,
      [''],
      [{ kind: 'executed', status: 201 }],
    ],
    [
      'the same of what is forgotten',
      { shouldCache: () => false },
      changesItsMind,
      [''],
      [{ kind: 'forgotten', status: 201 }],
    ],
    [
      'reused',
      { whenKeyReused: 'reject' },
      created,
      ['a', 'b'],
      [
        { kind: 'executed', status: 201 },
        { kind: 'reused', status: 422 },
      ],
    ],
    ['forgotten, where the handler says so', {}, forgets, [''], [{ kind: 'forgotten', status: 200 }]],
    [
      'not-stored and unavailable, where the response is too large',
      { maxResponseBytes: 1 },
      (_req, res) => res.send('xx'),
      ['', ''],
      [
        { kind: 'not-stored', status: 200 },
        { kind: 'unavailable', status: 409 },
      ],
    ],
    [
      'not-stored, where the store fails',
      storeIsDown('complete'),
      created,
      [''],
      [{ kind: 'not-stored', status: 201, error: unavailable }],
    ],
    [
      'store-failed',
      storeIsDown('acquire'),
      created,
      [''],
      [{ kind: 'store-failed', status: 503, error: unavailable }],
    ],
    [
      'store-failed without a status, where the handler runs all the same',
      { ...storeIsDown('acquire'), whenStoreFails: 'run' },
      created,
      [''],
      [{ kind: 'store-failed', error: unavailable }],
    ],
  ])('is told %s', async (_title, options, act, bodies, expected) => {
    const { post, log } = await guarded(options, act);
    for (const body of bodies) await post({ key: '"the key"', headers: text, body });
    const number = expect.any(Number) as number;
    expect(log.events).toEqual(
      expected.map(event => ({
        ...{ key: 'the key', startTime: number, durationMs: number },
        cacheKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        ...(['executed', 'not-stored', 'forgotten'].includes(String(event.kind)) && { handlerMs: number }),
        ...event,
      })),
    );
    expect(new Set(log.events.map(({ cacheKey }) => cacheKey)).size).toBe(1);
  });

  it('is told unguarded for a request that is let through without a key, with the request; nothing for a method that is not guarded', async () => {
    const told: unknown[] = [];
    const onEvent: IdempotencyOptions['onEvent'] = ({ kind, key }, req) => told.push([kind, key, req.path]);
    const guard = idempotency({ methods: ['POST'], whenKeyMissing: 'run', onEvent });
    const { post } = await guarded(guard, created, { behind: [guard] });
    for (const sent of [{ key: '' }, { method: 'GET' }, {}]) await post({ path: '/pay', ...sent });
    expect(told).toEqual([
      ['unguarded', '', '/pay'],
      ['executed', 'k', '/pay'],
    ]);
  });

  it('is told waited by a duplicate that waited, and how long a request took', async () => {
    const { post, waits, end, log } = await whileOneWaits(30);
    const second = post();
    await waits;
    await end();
    await second;
    expect(log.events).toMatchObject([
      { kind: 'executed', status: 201 },
      { kind: 'waited', status: 201 },
    ]);
    for (const { durationMs } of log.events) expect(durationMs).toBeGreaterThan(20);
  });

  it('is told abandoned when the client of a waiting duplicate leaves', async () => {
    const { url, waits, end, log } = await whileOneWaits(0);
    const leaving = request(url, { method: 'POST', headers: keyed('k') }).on('error', () => undefined);
    leaving.end();
    await waits;
    leaving.destroy();
    await log.first('abandoned');
    await end();
    expect(log.kinds).toEqual(['abandoned', 'executed']);
  });

  it.each<[string, string, string, number, string]>([
    ['no key', '', '', 400, ''],
    ['a key that does not match', 'short', '', 400, ''],
    ['a body that is too long', 'long-enough', 'x'.repeat(2_000), 413, 'long-enough'],
  ])('is told refused for %s', async (_title, key, body, status, told) => {
    const { post, log } = await guarded({ keyPattern: /^.{8,}$/, maxRequestBytes: 1_000 });
    expect((await post({ key, body })).status).toBe(status);
    expect(log.events).toMatchObject([
      { kind: 'refused', key: told, cacheKey: '', status, error: { name: 'Problem', status } },
    ]);
  });

  it('that throws is a warning of the process, once, and changes nothing', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const onEvent = (): never => {
      throw new Error('no metrics');
    };
    const { post } = await guarded({ onEvent }, created);
    expect([(await post()).status, (await post()).status]).toEqual([201, 201]);
    expect(warn.mock.calls).toEqual([
      [
        'idempotency: onEvent failed (Error: no metrics), and the request is served all the same. Correct onEvent.',
        { code: 'BINDONCE_ON_EVENT' },
      ],
    ]);
    warn.mockRestore();
  });
});
