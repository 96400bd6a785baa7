/** `npm run faults`: a storm, a table of what it did, and a verdict. */
import { parseArgs } from 'node:util';
import type { StoreKind } from './connection';
import { judge, type Verdict } from './judge';
import { CLIENTS, LEASE, SERVERS, storm, STORE_TIMEOUT, type StormOptions, type StormReport } from './storm';

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

const figure = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const rows = (counts: Readonly<Record<string, number>>, of: (name: string) => string): string[] =>
  Object.entries(counts)
    .sort()
    .map(([name, count]) => `| ${of(name)} | ${figure(count)} |`);

/** What a storm did and what came of it, as a Markdown table. */
function table(
  { seed, store }: StormOptions,
  { keys, hangUps, seconds }: Omit<StormReport, 'entries'>,
  verdict: Verdict,
): string {
  return [
    `| ${SERVERS} servers, ${CLIENTS} client processes, ${store}, lease ${LEASE} ms, storeTimeout ${STORE_TIMEOUT} ms, seed ${seed} | ${figure(seconds)} s |`,
    '|---|---|',
    ...rows(verdict.faults, name => name),
    `| clients that hung up | ${figure(hangUps)} |`,
    `| keys | ${figure(keys)} |`,
    `| whole answers | ${figure(verdict.answers)} |`,
    `| executions | ${figure(verdict.executions)} |`,
    ...rows(verdict.repeated, reason => `executed again because: ${reason}`),
    ...rows(verdict.overlapping, reason => `of these, at the same time: ${reason}`),
    `| milliseconds from the last fault until every key was answered | ${figure(verdict.settledMs)} |`,
    `| unplanned process pauses | ${figure(verdict.stalls)} |`,
    `| **violations** | **${figure(verdict.violations.length)}** |`,
    ...verdict.violations.slice(0, 20).map(violation => `\n${violation}`),
  ].join('\n');
}

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
