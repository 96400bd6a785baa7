import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const directory = join(__dirname, '../..');
const run = promisify(execFile);

/** Environment variables that say that a process may be one of several. */
const VARIABLES = [
  'NODE_APP_INSTANCE',
  'pm_id',
  'AWS_LAMBDA_FUNCTION_NAME',
  'K_SERVICE',
  'VERCEL',
  'FUNCTIONS_WORKER_RUNTIME',
];

/**
 * What a process prints as warnings that makes two middlewares with these options, in a cluster worker or with these
 * variables.
 */
async function warningsOf(
  options: string,
  { worker = false, env = {} as Record<string, string> } = {},
): Promise<string[]> {
  const make = `const { idempotency, memoryLeases } = require('bindonce'); const { Keyv } = require('keyv'); idempotency(${options}); idempotency(${options});`;
  const script = worker
    ? `const cluster = require('node:cluster'); if (cluster.isPrimary) cluster.fork(); else { ${make} process.disconnect(); }`
    : make;
  const file = join(directory, 'spec/processes/evaluate.cjs');
  const unmanaged = { ...process.env, ...Object.fromEntries(VARIABLES.map(name => [name, undefined])) };
  const { stderr } = await run(process.execPath, [file], {
    cwd: directory,
    env: { ...unmanaged, SCRIPT: script, ...env },
  });
  return stderr.split('\n').filter(line => line.includes('BINDONCE_WORKERS'));
}

describe('idempotency() whose responses are in memory', () => {
  it.each([
    ['{}', 'a cluster worker', { worker: true }, 'a cluster worker.'],
    ['{ store: new Keyv() }', 'a cluster worker', { worker: true }, 'a cluster worker.'],
    ['{}', 'a process that PM2 has started', { env: { NODE_APP_INSTANCE: '0' } }, 'PM2 (NODE_APP_INSTANCE is set).'],
    ['{}', 'one that PM2 has started under another name', { env: { pm_id: '3' } }, 'PM2 (pm_id is set).'],
    [
      '{}',
      'a function of AWS Lambda',
      { env: { AWS_LAMBDA_FUNCTION_NAME: 'pay' } },
      'AWS Lambda (AWS_LAMBDA_FUNCTION_NAME is set).',
    ],
    ['{}', 'an instance of Cloud Run', { env: { K_SERVICE: 'shop' } }, 'Cloud Run (K_SERVICE is set).'],
    ['{}', 'a function of Vercel', { env: { VERCEL: '1' } }, 'Vercel (VERCEL is set).'],
    [
      '{ store: new Keyv() }',
      'a function of Azure',
      { env: { FUNCTIONS_WORKER_RUNTIME: 'node' } },
      'Azure Functions (FUNCTIONS_WORKER_RUNTIME is set).',
    ],
  ])(
    'with %s in %s warns once that a retry may run in another process, and says what to pass',
    async (options, _, where, sign) => {
      const warnings = await warningsOf(options, where);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(
        `${sign} A retry can reach another process, which does not have them, and runs there again. ` +
          'Pass a store that all processes share',
      );
    },
  );

  it('in a process of its own does not warn', async () => {
    expect(await warningsOf('{}')).toEqual([]);
  });
});

describe.each(['{ leases: memoryLeases() }', '{ store: new Keyv(), leases: memoryLeases() }'])(
  'idempotency(%s)',
  options => {
    it('does not warn in a cluster worker or on a serverless platform: leases in one process were asked for', async () => {
      const env = Object.fromEntries(VARIABLES.map(name => [name, '1']));
      expect(await warningsOf(options, { worker: true, env })).toEqual([]);
    });
  },
);
