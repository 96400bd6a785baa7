import type { Pair } from '../../body/pairs';
import type { Place } from '../place';
import type { Slot } from '../plan';

/** What was sent under one name. */
interface Values {
  readonly plain: string[];
  /** `name[]`, in the order sent. */
  readonly appended: string[];
  /** `name[3]`, by index. */
  readonly indexed: [index: number, value: string][];
}

/** Values by name, names in any case; a collection can be spelled `n`, `n[]` or `n[3]`. */
export class NamedValues {
  private readonly values = new Map<string, Values>();

  constructor(pairs: readonly Pair[]) {
    for (const [name, value] of pairs) {
      const [, root = name, index] = /^([^[\]]+)\[(\d{0,10})\]$/.exec(name) ?? [];
      const { plain, appended, indexed } = this.at(root);
      if (index === undefined) plain.push(value);
      else if (index === '') appended.push(value);
      else indexed.push([Number(index), value]);
    }
  }

  /** The value of a property, read; undefined where nothing was sent. Only a collection takes `n[]` and `n[3]`. */
  read({ name, type }: Slot, place: Place): unknown {
    const found = this.values.get(name.toLowerCase());
    if (!found) return undefined;
    const { plain, appended, indexed } = found;
    if (type.shape !== 'list') return plain.length > 0 ? type.fromText(plain, place) : undefined;
    const tooHigh = indexed.find(([index]) => index >= place.maxItems);
    if (tooHigh) return place.fail(`The index ${tooHigh[0]} is too high; ${place.maxItems} items are allowed.`);
    // Sorting is stable: what was sent twice under one index stays in order. Gaps are closed up.
    const inOrder = indexed.sort(([a], [b]) => a - b).map(([, value]) => value);
    return type.fromText([...plain, ...appended, ...inOrder], place);
  }

  private at(name: string): Values {
    const key = name.toLowerCase();
    const known = this.values.get(key);
    if (known) return known;
    const created: Values = { plain: [], appended: [], indexed: [] };
    this.values.set(key, created);
    return created;
  }
}
