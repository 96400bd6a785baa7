import { inspect } from 'node:util';
import { memoryLeases, type LeaseStore } from '../../../lib';
import { countingService } from '../../support/counting-service';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';

describe.each(expressVersions)('a lease store of the application, on %s,', (_version, version) => {
  it.each<unknown>([undefined, null, true, { kind: 'mine' }, { kind: 'done' }])(
    'whose acquire() answers %j is an error that names the answer, and nothing runs',
    async answer => {
      const leases = Object.assign(memoryLeases(), { acquire: () => Promise.resolve(answer) }) as LeaseStore;
      const { answerTo, runs } = await countingService({ leases }, { version });
      expect(await answerTo({})).toContain(`leases.acquire() answered ${inspect(answer)} instead of`);
      expect(runs()).toBe(0);
    },
  );

  it('whose complete() answers nothing is told so by its events; the response goes out, and nothing runs twice', async () => {
    const leases: LeaseStore = memoryLeases();
    const { complete } = leases;
    leases.complete = async (...given) => void (await complete.apply(leases, given)) as never;
    const { post, log, runs } = await guarded({ leases, storeTimeout: 50 }, undefined, { version });
    expect([seen(await post()), seen(await post()), runs()]).toEqual(['{"run":1}', '{"run":1} again', 1]);
    expect(log.kinds).toEqual(['not-stored', 'waited']);
    expect(log.events[0]?.error).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('leases.complete() answered undefined instead of true or') as string,
    });
  });
});
