import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Numbers that follow from a seed, so that a run can be repeated with the same plan. */
export class Random {
  private readonly generator;

  constructor(seed: number) {
    this.generator = xoroshiro128plus(seed);
  }

  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return uniformInt(this.generator, least, most);
  }

  /** True `percent` times in a hundred. */
  chance(percent: number): boolean {
    return this.between(1, 100) <= percent;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] ?? choices[0];
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map(item => ({ item, order: this.between(0, 1_000_000) }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }
}
