/** The compiler's error for a decorator on a property of another type. */
interface WrongPropertyType<V> {
  readonly 'the declared type of this property must accept': V;
}

/** A number of bignumber.js, from either of its two declarations. */
interface AnyBigNumber {
  readonly c: number[] | null;
  readonly e: number | null;
  readonly s: number | null;
  shiftedBy(n: number): unknown;
}

/**
 * bignumber.js declares its class once for `import` and once for `require`, each time with a private member, so that
 * neither fits the other: they are compared as one and the same.
 */
export type Comparable<T> = T extends AnyBigNumber
  ? AnyBigNumber
  : T extends readonly (infer I)[]
    ? readonly Comparable<I>[]
    : T;

/**
 * Compares types: `unknown`, which changes nothing in an intersection, if a property declared as `Declared` can hold a
 * `V`.
 */
export type Fits<V, Declared> = [V] extends [Declared]
  ? unknown
  : [Comparable<V>] extends [Comparable<Declared>]
    ? unknown
    : WrongPropertyType<V>;
