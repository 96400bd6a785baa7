import type { Verdict } from './judge';
import { CLIENTS, LEASE, SERVERS, STORE_TIMEOUT, type StormOptions, type StormReport } from './storm';

const figure = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const rows = (counts: Readonly<Record<string, number>>, of: (name: string) => string): string[] =>
  Object.entries(counts)
    .sort()
    .map(([name, count]) => `| ${of(name)} | ${figure(count)} |`);

/** What a storm did and what came of it, as a Markdown table. */
export function table(
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
