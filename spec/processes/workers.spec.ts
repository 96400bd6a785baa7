import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const directory = join(__dirname, '../..');
const run = promisify(execFile);

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
  const unmanaged = { ...process.env, NODE_APP_INSTANCE: undefined, pm_id: undefined };
  const { stderr } = await run(process.execPath, [file], {
    cwd: directory,
    env: { ...unmanaged, SCRIPT: script, ...env },
  });
  return stderr.split('\n').filter(line => line.includes('BINDONCE_WORKERS'));
}

describe('idempotency() whose responses are in memory', () => {
  it.each([
    ['{}', 'a cluster worker', { worker: true }, 'a cluster worker'],
    ['{ store: new Keyv() }', 'a cluster worker', { worker: true }, 'a cluster worker'],
    ['{}', 'a process that PM2 has started', { env: { NODE_APP_INSTANCE: '0' } }, 'NODE_APP_INSTANCE'],
    ['{}', 'one that PM2 has started under another name for its instances', { env: { pm_id: '3' } }, 'pm_id'],
  ])(
    'with %s in %s warns once that each would run a request, and says what to pass',
    async (options, _, where, sign) => {
      const warnings = await warningsOf(options, where);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(sign);
      expect(warnings[0]).toContain('Each of them would run the same request once. Pass a store that they share');
    },
  );

  it('in a process of its own does not warn', async () => {
    expect(await warningsOf('{}')).toEqual([]);
  });
});

describe.each(['{ leases: memoryLeases() }', '{ store: new Keyv(), leases: memoryLeases() }'])(
  'idempotency(%s)',
  options => {
    it('does not warn in a cluster worker: leases in one process were asked for', async () => {
      expect(await warningsOf(options, { worker: true, env: { pm_id: '3' } })).toEqual([]);
    });
  },
);
