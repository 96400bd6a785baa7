/** True when both types are the same to the compiler, `any` and modifiers included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** True when each is assignable to the other. */
export type Mutual<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Compiles when the fact is true; when it runs there is nothing left to do. */
export function holds<Fact extends true>(fact?: Fact): void {
  void fact;
}
