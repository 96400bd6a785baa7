import { idempotency, memoryLeases, type LeaseStore } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

/** Leases in memory, of which one method answers something else. */
function leasesThatAnswer(answers: Partial<Record<keyof LeaseStore, unknown>>): LeaseStore {
  const leases = memoryLeases();
  const methods = Object.entries(answers).map(([method, answer]) => [method, () => Promise.resolve(answer)]);
  return Object.assign(Object.create(leases) as LeaseStore, Object.fromEntries(methods));
}

describe.each(expressVersions)('a lease store of the application, on %s,', (_version, express) => {
  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'true'],
    [{ kind: 'mine' }, "{ kind: 'mine' }"],
    [{ kind: 'done' }, "{ kind: 'done' }"],
  ])('whose acquire() answers %j is an error that names the answer, and nothing runs', async (answer, named) => {
    let runs = 0;
    const messages: string[] = [];
    const app = express()
      .post('/', idempotency({ leases: leasesThatAnswer({ acquire: answer }) }), (_req, res) => void res.json(++runs))
      .use(((error: Error, _req, res, next) => {
        messages.push(error.message);
        if (res.headersSent) next(error);
        else res.status(500).end();
      }) as import('express').ErrorRequestHandler);
    const { url } = await serve(app);
    expect([(await send(url, { headers: keyed('k') })).status, runs]).toEqual([500, 0]);
    expect(messages).toEqual([expect.stringContaining(`leases.acquire() answered ${named} instead of`)]);
  });

  it('whose complete() answers nothing is told so by its events; the response goes out, and nothing runs twice', async () => {
    const log = new EventLog();
    let runs = 0;
    const leases = leasesThatAnswer({});
    const { complete } = leases;
    leases.complete = async (...given) => {
      await complete.apply(leases, given);
      return undefined as never;
    };
    const guard = idempotency({ leases, storeTimeout: 50, onEvent: log.onEvent });
    const { url } = await serve(express().post('/', guard, (_req, res) => void res.json(++runs)));
    const texts = [(await send(url, { headers: keyed('k') })).text, (await send(url, { headers: keyed('k') })).text];
    expect([...texts, runs, ...log.kinds]).toEqual(['1', '1', 1, 'not-stored', 'waited']);
    expect(String((log.events[0]?.error as Error).message)).toContain(
      'leases.complete() answered undefined instead of true or',
    );
  });
});
