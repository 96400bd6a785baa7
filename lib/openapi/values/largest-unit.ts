/** A unit of measure: how many of the smallest one it is, and its names. */
export type Unit = readonly [size: number, one: string, several: string];

/**
 * Writes an amount in the largest unit of which it is a whole number.
 * @param larger the larger units, the largest first.
 */
export function inLargestUnit(amount: number, smallest: Unit, larger: readonly Unit[]): string {
  const [size, one, several] = larger.find(([size]) => amount % size === 0) ?? smallest;
  return `${amount / size} ${amount === size ? one : several}`;
}
