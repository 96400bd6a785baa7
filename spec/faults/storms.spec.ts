import { serverFaults, storeFaults } from './faults';
import { runStorm } from './run-storm';

const kinds = [...serverFaults, ...storeFaults].map(({ kind }) => kind);

describe('a storm of some minutes', () => {
  it.each(['redis', 'postgres'])(
    'over %s breaks no promise: every kind of fault, thousands of keys, no violation',
    async store => {
      const { violations, faults, keys, hangUps, answers, executions } = await runStorm(
        '--store',
        store,
        '--seed',
        '20261121',
        '--keys',
        '2000',
        '--faults',
        '40',
      );
      expect(violations).toEqual([]);
      expect(Object.keys(faults).sort()).toEqual([...kinds].sort());
      expect(keys).toBeGreaterThanOrEqual(2_000);
      expect(hangUps).toBeGreaterThan(50);
      expect(answers).toBeGreaterThan(keys);
      expect(executions).toBeGreaterThanOrEqual(keys);
    },
    420_000,
  );
});
