/**
 * Runs `work`; if it throws, names the declaration in the error.
 * @throws TypeError with the stack of the error that it names. As a cause, that one would repeat the same sentence for
 * each declaration around it.
 */
export function namingErrors<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The application may throw anything.
    const given = error instanceof Error ? error : new Error(String(error));
    const named = new TypeError(`${where}: ${given.message}`, given.cause === undefined ? {} : { cause: given.cause });
    // V8 records ten calls: those of the first error may not reach the line of the application.
    named.stack = [String(named), ...new Set([...callsIn(given), ...callsIn(named)])].join('\n');
    throw named;
  }
}

const callsIn = ({ stack = '' }: Error): string[] => stack.split('\n').filter(line => /^ {4}at /.test(line));

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
