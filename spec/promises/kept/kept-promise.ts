/** A promise of the package, with the spec that states it where a user meets it, and a break that this spec notices. */
export interface KeptPromise {
  readonly promise: string;
  readonly spec: string;
  /** A part of the title of the spec; ` > ` stands between parts of a longer one. */
  readonly title: string;
  /** A change of one line, or of few, after which the promise does not hold. */
  readonly mutant: { readonly file: string; readonly find: string; readonly replace: string };
}
