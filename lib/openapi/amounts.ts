/** Units of measure: how many of the smallest one each is, and its name; the largest first. */
type Units = readonly (readonly [size: number, name: string])[];

export const SIZES: Units = [
  [1_073_741_824, 'GiB'],
  [1_048_576, 'MiB'],
  [1_024, 'KiB'],
];

export const DURATIONS: Units = [
  [86_400_000, 'days'],
  [3_600_000, 'hours'],
  [60_000, 'minutes'],
  [1_000, 'seconds'],
];

/** Writes an amount in the largest unit of which it is a whole number. */
export function amountText(amount: number, units: Units, smallest: string): string {
  const [size, name] = units.find(([one]) => amount % one === 0) ?? [1, smallest];
  return amount === size ? `1 ${name.replace(/s$/, '')}` : `${amount / size} ${name}`;
}
