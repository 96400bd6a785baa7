import { arch, cpus, platform } from 'node:os';
import { median } from './compare.mjs';

/** @param results what compare() has returned */
function summary(results) {
  const ratios = results.map(({ ratio }) => ratio);
  return {
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    floor: median(results.map(({ floor }) => floor)).toFixed(0),
    latency: median(results.map(({ latency }) => latency)),
  };
}

export const consoleHead = title =>
  `\n| ${title} | CPU time, bare = 1 | from, to | p99 latency, bare = 1 |\n|---|---|---|---|`;

export function consoleRow(name, results) {
  const { ratio, lowest, highest, floor, latency } = summary(results);
  const cpuTime = name === 'bare' ? `${ratio.toFixed(2)} (${floor} µs)` : ratio.toFixed(2);
  return `| ${name} | ${cpuTime} | ${lowest.toFixed(2)}, ${highest.toFixed(2)} | ${latency.toFixed(2)} |`;
}

/** The columns of docs/performance.md. */
const markdownHead = title => `| ${title} | CPU time | from, to |\n|---|---|---|`;

function markdownRow(name, leavesOut, results) {
  const { ratio, lowest, highest, floor } = summary(results);
  const isBare = name === 'bare';
  const subject = isBare ? 'the handler alone' : name.replace(/\w[\w.]*\([^)]*\)/g, '`$&`');
  const note = leavesOut && (isBare ? `, ${leavesOut}` : ` (${leavesOut})`);
  const cpuTime = isBare ? `1 (${floor} µs)` : ratio.toFixed(2);
  return `| ${subject}${note ?? ''} | ${cpuTime} | ${lowest.toFixed(1)}, ${highest.toFixed(1)} |`;
}

/** @param measured for each scenario its results by the subjects' names */
export function markdown(scenarios, measured, { requests, rounds }) {
  const [cpu, ...others] = cpus();
  const machine = `Node ${process.versions.node}, ${others.length + 1} CPUs (${cpu.model.trim()}), ${platform()} ${arch()}; ${rounds} rounds of ${requests} requests.`;
  const tables = Object.entries(measured).map(([key, results]) => {
    const { title, subjects } = scenarios[key];
    const rows = Object.entries(results).map(([name, own]) => markdownRow(name, subjects[name].leavesOut, own));
    return [markdownHead(title), ...rows].join('\n');
  });
  return `${[machine, ...tables].join('\n\n')}\n`;
}
