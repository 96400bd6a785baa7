import { guarded } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { signal } from '../../support/signal';
import { standStill } from '../../support/stand-still';

describe('a lease', () => {
  it('outlives single renewals that fail', async () => {
    const leaseDuration = 3_000;
    const renewedOften = async (): Promise<{ seen: unknown; ms: number }> => {
      let asked = 0;
      const often = signal();
      const renew = (): void => {
        if (++asked === 6) often.happens();
        if (asked % 3 !== 0) throw new Error('The connection was reset');
      };
      const leases = new HookedLeases({ renew });
      const { log, runs, post } = await guarded({ leases, leaseDuration }, async (_req, res) => {
        await often.happened;
        res.send('done');
      });
      const begun = performance.now();
      const texts = (await Promise.all([post(), post()])).map(({ text }) => text);
      return { seen: [...texts, runs(), log.kinds.includes('lease-lost')], ms: performance.now() - begun };
    };
    let renewed = await renewedOften();
    // It takes four thirds of a lease. On a machine that stands still for another, a renewal that fails is the last one.
    while (renewed.ms >= (5 / 3) * leaseDuration - 100) renewed = await renewedOften();
    expect(renewed.seen).toEqual(['done', 'done', 1, false]);
  });

  it('that expired while the process stood still aborts the signal before another request of the process runs', async () => {
    const waits = signal();
    let asked = 0;
    const leases = new HookedLeases(
      { renew: () => new Promise(() => undefined) },
      { acquire: () => (++asked === 2 ? waits.happens() : undefined) },
    );
    const { log, post } = await guarded({ leases, leaseDuration: 400 }, async (_req, res, _next, run) => {
      if (run === 1) {
        await waits.happened;
        await new Promise(setImmediate);
        standStill(500);
        await new Promise(() => undefined);
      }
      res.json(log.kinds);
    });
    post().catch(() => undefined);
    expect((await post()).text).toBe('["lease-lost"]');
  });
});
