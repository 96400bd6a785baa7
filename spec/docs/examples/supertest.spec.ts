import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { example } from './example';

it('the example of tests with supertest passes', async () => {
  const args = ['--test', '--test-reporter=tap', example('supertest/payments.test.js')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toMatch(/^# pass 5$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
