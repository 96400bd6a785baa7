import { inspect } from 'node:util';
import { memoryLeases, type LeaseStore } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';

describe.each(expressVersions)('a lease store of the application, on %s,', (_version, version) => {
  it.each<unknown>([undefined, null, true, { kind: 'mine' }, { kind: 'done' }])(
    'whose acquire() answers %j is an error that names the answer, and nothing runs',
    async answer => {
      const leases = Object.assign(memoryLeases(), { acquire: () => Promise.resolve(answer) }) as LeaseStore;
      const { app, post, runs } = await guarded({ leases }, undefined, { version });
      app.use(((error: Error, _req, res, next) => {
        if (res.headersSent) next(error);
        else res.send(error.message);
      }) as import('express').ErrorRequestHandler);
      const named = expect.stringContaining(`leases.acquire() answered ${inspect(answer)} instead of`) as string;
      expect([(await post()).text, runs()]).toEqual([named, 0]);
    },
  );

  it('whose complete() answers nothing is told so by its events; the response goes out, and nothing runs twice', async () => {
    const leases: LeaseStore = memoryLeases();
    const { complete } = leases;
    leases.complete = async (...given) => void (await complete.apply(leases, given)) as never;
    const { post, log, runs } = await guarded({ leases, storeTimeout: 50 }, undefined, { version });
    expect([seen(await post()), seen(await post()), runs()]).toEqual(['{"run":1}', '{"run":1} again', 1]);
    expect(log.kinds).toEqual(['not-stored', 'waited']);
    expect(String(log.events[0]?.error)).toContain('leases.complete() answered undefined instead of true or');
  });
});
