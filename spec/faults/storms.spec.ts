import { FLUSHED, serverFaults, storeFaults } from './faults';
import { runStorm } from './run-storm';

const kinds = [...serverFaults, ...storeFaults].map(({ kind }) => kind).sort();

it.each(['redis', 'postgres'])(
  'a storm over %s breaks no promise: every kind of fault, five hundred keys, no violation',
  async store => {
    const flags = `--store ${store} --seed 20261121 --keys 500 --faults 30`;
    const { violations, faults, keys, hangUps, answers, executions } = await runStorm(flags);
    expect([violations, Object.keys(faults).sort()]).toEqual([[], kinds]);
    expect(keys).toBeGreaterThanOrEqual(500);
    expect(hangUps).toBeGreaterThan(50);
    expect(answers).toBeGreaterThan(keys);
    expect(executions).toBeGreaterThanOrEqual(keys);
  },
  420_000,
);

it('a storm over PostgreSQL keeps one order for each key that is answered, that of the answer, where both are one transaction', async () => {
  const flags = '--store postgres --exactly-once --seed 20261128 --keys 400 --faults 30';
  const { violations, faults, keys, answers, executions } = await runStorm(flags);
  expect([violations, Object.keys(faults).sort()]).toEqual([[], kinds.filter(kind => kind !== FLUSHED)]);
  expect(answers).toBeGreaterThan(keys);
  expect(executions).toBeGreaterThan(keys);
}, 420_000);
