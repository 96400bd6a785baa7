import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * CPU time of the server for a request, a bare handler being 1, as `npm run bench` measures it (docs/performance.md). A
 * busy machine changes them by some tenths, so only twice as much is a failure.
 */
const RATIOS: readonly [scenario: string, subject: string, ratio: number][] = [
  ['idempotency', 'idempotency() behind express.json()', 2.4],
  ['idempotency', 'idempotency(), replay, before express.json()', 1.3],
  ['binding', 'bindRequest(Dto) behind express.json()', 1.5],
];

it('takes at most twice as much CPU time for a request as when it was last measured', async () => {
  const guard = join(__dirname, '../bench/guard.mjs');
  const subjects = JSON.stringify(RATIOS.map(([scenario, subject]) => [scenario, subject]));
  const { stdout } = await promisify(execFile)(process.execPath, [guard, subjects]);
  const measured = JSON.parse(stdout) as Record<string, number>;
  const tooSlow = RATIOS.filter(([, subject, ratio]) => !((measured[subject] ?? Infinity) <= 2 * ratio));
  expect({ tooSlow, measured }).toEqual({ tooSlow: [], measured });
  // 12 s on a machine that does nothing else.
}, 600_000);
