/** Returns the name, with a number if it is taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count++) free = `${name}${count}`;
  return free;
}

/** An operation that needs a name. */
interface Nameable {
  /** Method and path: `POST /orders`. */
  readonly where: string;
  /** The endpoint, which may have several paths or methods, and the name that the application gives to it. */
  readonly endpoint: { readonly operation: { readonly operationId?: string } } | undefined;
}

/**
 * Names the operations: as the application says, with a number for each further path or method of one endpoint, else by
 * method and path.
 * @throws TypeError if two endpoints have the same name from the application.
 */
export function operationIds<O extends Nameable>(operations: readonly O[]): Map<O, string> {
  const names = new Map<O, string>();
  const owners = new Map<string, O>();
  const isTaken = (name: string): boolean => owners.has(name);
  const give = (one: O, name: string): void => {
    names.set(one, name);
    owners.set(name, one);
  };
  for (const one of operations) {
    const id = one.endpoint?.operation.operationId;
    if (id === undefined) continue;
    const owner = owners.get(id);
    if (owner && owner.endpoint !== one.endpoint)
      throw new TypeError(
        `openapi: ${owner.where} and ${one.where} have the same operationId, ${JSON.stringify(id)}. ` +
          'Give each endpoint one of its own, or none.',
      );
    give(one, freeName(id, isTaken));
  }
  for (const one of operations) if (!names.has(one)) give(one, freeName(camelCase(one.where), isTaken));
  return names;
}

/** Makes `postOrdersById` of `POST /orders/{id}`. */
function camelCase(where: string): string {
  const [method = '', path = ''] = where.split(' ');
  const words = path.replace(/\{([^}]*)\}/g, 'By-$1').split(/[^\p{L}\d]+/u);
  return [method.toLowerCase(), ...words.map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join('');
}
