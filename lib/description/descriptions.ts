const PREFIX = 'bindonce.description.';

/**
 * The descriptions of all middlewares of one kind, for the API description. Each is kept on the function, under a
 * symbol of the registry, so that two copies of this package understand each other.
 */
export class Descriptions<D> {
  private readonly key: symbol;

  constructor(kind: string) {
    this.key = Symbol.for(`${PREFIX}${kind}`);
  }

  /** Adds the description to a middleware. */
  as<F extends object>(description: D, middleware: F): F {
    return Object.defineProperty(middleware, this.key, { value: description });
  }

  /** Returns the description of a middleware; undefined for anything else. */
  of(middleware: unknown): D | undefined {
    return (Object(middleware) as Record<symbol, D | undefined>)[this.key];
  }
}

/** Returns true for a middleware that has a description of any kind: for those of bindonce. */
export const isDescribed = (middleware: unknown): boolean =>
  Object.getOwnPropertySymbols(Object(middleware)).some(symbol => Symbol.keyFor(symbol)?.startsWith(PREFIX));
