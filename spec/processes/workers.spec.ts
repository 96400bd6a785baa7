import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const directory = join(__dirname, '../..');

/** Environment variables that say that a process may be one of several. */
const all = [
  ...['NODE_APP_INSTANCE', 'pm_id', 'AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'VERCEL'],
  'FUNCTIONS_WORKER_RUNTIME',
];

/** What a process prints as warnings that makes two middlewares with these options, in a cluster worker or with variables. */
async function warningsOf(options: string, isWorker: boolean, variables: readonly string[]): Promise<string[]> {
  const make = `const { idempotency, memoryLeases } = require('bindonce'); const { Keyv } = require('keyv'); idempotency(${options}); idempotency(${options});`;
  const SCRIPT = isWorker
    ? `const cluster = require('node:cluster'); if (cluster.isPrimary) cluster.fork(); else { ${make} process.disconnect(); }`
    : make;
  const set = Object.fromEntries(all.map(name => [name, variables.includes(name) ? '1' : undefined]));
  const { stderr } = await promisify(execFile)(process.execPath, [join(__dirname, 'evaluate.cjs')], {
    cwd: directory,
    env: { ...process.env, ...set, SCRIPT },
  });
  return stderr.split('\n').filter(line => line.includes('BINDONCE_WORKERS'));
}

describe('idempotency() whose responses are in memory', () => {
  it.each([
    ['{}', 'worker'],
    ['{ store: new Keyv() }', 'worker'],
    ...all.map(name => ['{}', name] as const),
    ['{ store: new Keyv() }', 'K_SERVICE'],
  ] as [options: string, where: string][])(
    'with %s in a process that may be one of several (%s) warns once that a retry may run in another, and says what to pass',
    async (options, where) => {
      const sign = where === 'worker' ? 'a cluster worker' : `(${where} is set)`;
      expect(await warningsOf(options, where === 'worker', [where])).toEqual([
        expect.stringContaining(
          `${sign}. A retry can reach another process, which does not have them, and runs there again. ` +
            'Pass a store that all processes share',
        ),
      ]);
    },
  );

  it('in a process of its own does not warn', async () => {
    expect(await warningsOf('{}', false, [])).toEqual([]);
  });

  it.each(['{ leases: memoryLeases() }', '{ store: new Keyv(), leases: memoryLeases() }'])(
    'does not warn with %s, in a cluster worker or on a serverless platform: leases in one process were asked for',
    async options => {
      expect(await warningsOf(options, true, all)).toEqual([]);
    },
  );
});
