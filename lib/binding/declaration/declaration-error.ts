/** Runs `work`; if it throws, names the declaration in the error. @throws TypeError */
export function namingErrors<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new TypeError(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws TypeError if two properties of a class have the same name. */
export function checkUniqueNames(
  className: string,
  kind: string,
  names: Iterable<readonly [property: string, name: string]>,
): void {
  const taken = new Map<string, string>();
  for (const [property, name] of names) {
    const other = taken.get(name);
    if (other !== undefined)
      throw new TypeError(
        `${className}.${other} and ${className}.${property} have the same ${kind}, ${JSON.stringify(name)}.`,
      );
    taken.set(name, property);
  }
}
