import cluster from 'node:cluster';
import { warnOnce } from '../../warnings/warn-once';

/**
 * Environment variables of what usually runs several processes, or starts and ends them by itself. (In a container of
 * Kubernetes or Heroku, one process may be meant.)
 */
const STARTERS: readonly (readonly [variable: string, starter: string])[] = [
  ['NODE_APP_INSTANCE', 'PM2'],
  ['pm_id', 'PM2'],
  ['AWS_LAMBDA_FUNCTION_NAME', 'AWS Lambda'],
  ['K_SERVICE', 'Cloud Run'],
  ['VERCEL', 'Vercel'],
  ['FUNCTIONS_WORKER_RUNTIME', 'Azure Functions'],
];

/** Warns if this process is probably one of several, at the same time or one after the other: they share no memory. */
export function warnOfWorkers(): void {
  const [variable, starter] = STARTERS.find(([name]) => process.env[name] !== undefined) ?? [];
  if (!cluster.isWorker && variable === undefined) return;
  const what = cluster.isWorker ? 'is a cluster worker' : `was started by ${starter} (${variable} is set)`;
  warnOnce(
    'BINDONCE_WORKERS',
    `idempotency: the responses are kept in the memory of this process, which ${what}. ` +
      'A retry can reach another process, which does not have them, and runs there again. ' +
      'Pass a store that all processes share: idempotency({ store: new Keyv(new KeyvRedis(url)) }).',
  );
}
