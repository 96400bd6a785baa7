import { INVALID, type Invalid, type Place } from '../place';
import type { Slot } from '../plan';
import { readText } from '../read-slot';

/** What was sent under one name. */
interface Values<V> {
  readonly plain: V[];
  /** `name[]`, in the order sent. */
  readonly appended: V[];
  /** `name[3]`. */
  readonly indexed: [index: number, value: V][];
}

/** Values (text or files) by name, names in any case. A collection can be spelled `n`, `n[]` or `n[3]`. */
export class NamedValues<V> {
  private readonly values = new Map<string, Values<V>>();

  constructor(pairs: Iterable<readonly [name: string, value: V]>) {
    for (const [name, value] of pairs) {
      const [, root = name, index] = /^([^[\]]+)\[(\d{0,10})\]$/.exec(name) ?? [];
      const { plain, appended, indexed } = this.at(root.toLowerCase());
      if (index === undefined) plain.push(value);
      else if (index === '') appended.push(value);
      else indexed.push([Number(index), value]);
    }
  }

  /** The values of a property; undefined where nothing was sent. Only a collection takes `n[]` and `n[3]`, in index order, gaps closed up. */
  of({ name, type }: Slot, place: Place): readonly V[] | Invalid | undefined {
    const found = this.values.get(name.toLowerCase());
    if (!found) return undefined;
    const { plain, appended, indexed } = found;
    if (!type.isCollection) return plain.length > 0 ? plain : undefined;
    const tooHigh = indexed.find(([index]) => index >= place.maxItems);
    if (tooHigh) return place.fail(`The index ${tooHigh[0]} is too high; ${place.maxItems} items are allowed.`);
    // Sorting is stable: what was sent twice under one index stays in the order sent.
    return [...plain, ...appended, ...indexed.sort(([a], [b]) => a - b).map(([, value]) => value)];
  }

  private at(key: string): Values<V> {
    const known = this.values.get(key);
    if (known) return known;
    const created: Values<V> = { plain: [], appended: [], indexed: [] };
    this.values.set(key, created);
    return created;
  }
}

/** Reads the text that was sent for a property. */
export function readNamed(values: NamedValues<string>, slot: Slot, place: Place): unknown {
  const found = values.of(slot, place);
  return found === undefined || found === INVALID ? found : readText(slot, found, place);
}
