import { serverFaults, storeFaults } from './faults';
import { runStorm } from './run-storm';

const kinds = [...serverFaults, ...storeFaults].map(({ kind }) => kind);

it('a short storm breaks no promise: every kind of fault, hundreds of keys, no violation', async () => {
  const { violations, faults, keys, answers, executions } = await runStorm(
    ...['--store', 'redis', '--seed', '20261122', '--keys', '600', '--faults', '20'],
  );
  expect(violations).toEqual([]);
  expect(Object.keys(faults).sort()).toEqual([...kinds].sort());
  expect(keys).toBeGreaterThanOrEqual(600);
  expect(answers).toBeGreaterThan(keys);
  expect(executions).toBeGreaterThanOrEqual(keys);
}, 420_000);
