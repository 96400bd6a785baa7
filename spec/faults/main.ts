/** `npm run faults`: a storm, a table of what it did, and a verdict. */
import { parseArgs } from 'node:util';
import type { StoreKind } from './connection';
import { judge } from './judge';
import { storm } from './storm';
import { table } from './table';

/** Violations that are printed; one mistake can make thousands. */
const SHOWN = 100;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    store: { type: 'string', default: 'redis' },
    keys: { type: 'string', default: '100000' },
    faults: { type: 'string', default: '1000' },
    servers: { type: 'string', default: '3' },
    clients: { type: 'string', default: '2' },
    lease: { type: 'string', default: '600' },
    'store-timeout': { type: 'string', default: '300' },
    settling: { type: 'string', default: '16000' },
    library: { type: 'string', default: 'bindonce' },
    only: { type: 'string', multiple: true, default: [] },
    'exactly-once': { type: 'boolean', default: false },
    refuse: { type: 'boolean', default: false },
    pause: { type: 'string', default: '600' },
    json: { type: 'boolean', default: false },
  },
});

/** @returns the exit code. */
async function main(): Promise<number> {
  const options = {
    seed: Number(values.seed),
    store: values.store as StoreKind,
    keys: Number(values.keys),
    faults: Number(values.faults),
    servers: Number(values.servers),
    clients: Number(values.clients),
    lease: Number(values.lease),
    storeTimeout: Number(values['store-timeout']),
    settling: Number(values.settling),
    library: values.library,
    only: values.only,
    exactlyOnce: values['exactly-once'],
    refuse: values.refuse,
    pause: Number(values.pause),
  };
  const report = await storm({
    ...options,
    ...(!values.json && {
      progress: (line: string) => {
        console.log(line);
      },
    }),
  });
  const verdict = judge(report.entries, { aftermath: 1_000, exactlyOnce: options.exactlyOnce, refuse: options.refuse });
  if (values.json)
    console.log(
      JSON.stringify({
        ...verdict,
        violations: verdict.violations.slice(0, SHOWN),
        keys: report.keys,
        hangUps: report.hangUps,
        seconds: report.seconds,
      }),
    );
  else console.log(table(options, report, verdict));
  return verdict.violations.length === 0 ? 0 : 1;
}

// Node 20 may not end by itself: it waits forever, with a busy processor, for the handle of a child process that was killed.
main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(2);
  },
);
