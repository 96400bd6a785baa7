/**
 * Runs `work`; if it throws, names the declaration in the error.
 * @throws TypeError whose cause is the first error: each declaration around it would repeat its sentence.
 */
export function namingErrors<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The application may throw anything.
    const given = error instanceof Error ? error : new Error(String(error));
    throw new TypeError(`${where}: ${given.message}`, { cause: given.cause ?? given });
  }
}

/** @throws TypeError if two properties of a class have the same name in JSON. */
export function checkJsonNames(
  className: string,
  properties: readonly { readonly property: string; readonly jsonName: string }[],
): void {
  const taken = new Map<string, string>();
  for (const { property, jsonName } of properties) {
    const other = taken.get(jsonName);
    if (other !== undefined)
      throw new TypeError(
        `${className}.${other} and ${className}.${property} have the same JSON name, ${JSON.stringify(jsonName)}.`,
      );
    taken.set(jsonName, property);
  }
}
