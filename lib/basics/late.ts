/** Returns a function that is made when it is first asked for. */
export type Late<F> = () => F;

/**
 * Postpones the making of a function: of the code for a class, most is not needed, since most classes are only read, or
 * only written. At the start of 300 endpoints, to make all of it took a third of the time.
 *
 * One that asks for itself while it is made, for a class that contains itself, gets a function that calls it.
 */
export function late<A extends unknown[], R>(make: () => (...given: A) => R): Late<(...given: A) => R> {
  let made: ((...given: A) => R) | undefined;
  let isBeingMade = false;
  const get = (): ((...given: A) => R) => {
    if (made) return made;
    if (isBeingMade) return (...given) => get()(...given);
    isBeingMade = true;
    try {
      return (made = make());
    } finally {
      isBeingMade = false;
    }
  };
  return get;
}
