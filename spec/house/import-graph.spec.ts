import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

it('has no import cycle, no import between idempotency and binding, and no import upwards within a room; type imports count', () => {
  const root = join(__dirname, '../..');
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'lib',
      '--config',
      'spec/house/dependency-rules.cjs',
      '--output-type',
      'err',
    ],
    { cwd: root, encoding: 'utf8' },
  );
  expect(stdout).toContain('no dependency violations found');
  expect(status).toBe(0);
});
