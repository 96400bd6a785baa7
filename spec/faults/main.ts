/** `npm run faults`: a storm, a table of what it did, and a verdict. */
import { parseArgs } from 'node:util';
import type { StoreKind } from './connection';
import { judge } from './judge';
import { storm, type StormOptions } from './storm';
import { table } from './table';

/** Violations that are printed; one mistake can make thousands. */
const SHOWN = 100;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    store: { type: 'string', default: 'redis' },
    keys: { type: 'string', default: '100000' },
    faults: { type: 'string', default: '1000' },
    settling: { type: 'string', default: '16000' },
    library: { type: 'string', default: 'bindonce' },
    only: { type: 'string', multiple: true, default: [] },
    'exactly-once': { type: 'boolean', default: false },
    refuse: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

/** @returns the exit code. */
async function main(): Promise<number> {
  const { seed, store, keys, faults, settling, 'exactly-once': exactlyOnce, json, ...rest } = values;
  const options: StormOptions = {
    ...rest,
    seed: Number(seed),
    store: store as StoreKind,
    keys: Number(keys),
    faults: Number(faults),
    settling: Number(settling),
    exactlyOnce,
    progress: json ? undefined : console.log,
  };
  const { entries, ...report } = await storm(options);
  const verdict = judge(entries, { aftermath: 1_000, exactlyOnce, refuse: options.refuse });
  const { violations } = verdict;
  if (json) console.log(JSON.stringify({ ...verdict, violations: violations.slice(0, SHOWN), ...report }));
  else console.log(table(options, report, verdict));
  return violations.length === 0 ? 0 : 1;
}

// Node 20 may not end by itself: it waits forever, with a busy processor, for the handle of a child process that was killed.
main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(2);
  },
);
