/** A unit of measure: how many of the smallest one it is, and its name. */
type Unit = readonly [size: number, name: string];

const SIZES: readonly Unit[] = [
  [1_073_741_824, 'GiB'],
  [1_048_576, 'MiB'],
  [1_024, 'KiB'],
  [1, 'bytes'],
];

const DURATIONS: readonly Unit[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
];

/** Writes a number of bytes in the largest unit of which it is a whole number. */
export function sizeText(bytes: number): string {
  const [size, name] = largestUnit(bytes, SIZES);
  return `${bytes / size} ${name}`;
}

/** Writes a number of milliseconds in the same way. */
export function durationText(ms: number): string {
  const [size, name] = largestUnit(ms, DURATIONS);
  return `${ms / size} ${name}${ms === size ? '' : 's'}`;
}

const largestUnit = (amount: number, units: readonly Unit[]): Unit =>
  units.find(([size]) => amount % size === 0) ?? [1, ''];
