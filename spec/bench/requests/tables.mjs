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
