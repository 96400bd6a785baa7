import cluster from 'node:cluster';
import { warnOnce } from '../../warnings/warn-once';

/** Environment variables that PM2 sets for its processes. */
const PM2 = ['NODE_APP_INSTANCE', 'pm_id'];

/** Warns if this process is probably one of several, which do not share memory. */
export function warnOfWorkers(): void {
  const variable = PM2.find(name => process.env[name] !== undefined);
  if (!cluster.isWorker && variable === undefined) return;
  const what = cluster.isWorker ? 'a cluster worker' : `started with ${variable}, as PM2 does,`;
  warnOnce(
    'BINDONCE_WORKERS',
    `idempotency: the responses are kept in the memory of this process, which is ${what} ` +
      'and may have siblings. Each of them would run the same request once. ' +
      'Pass a store that they share: idempotency({ store: new Keyv(new KeyvRedis(url)) }).',
  );
}
