import { freeName } from './free-name';

/** An operation that needs a name. */
interface Nameable {
  /** Method and path: `POST /orders`. */
  readonly where: string;
  /** The name that the application gives to it. */
  readonly operationId: string | undefined;
  /** The endpoint, which may have several paths or methods under one name. */
  readonly endpoint: unknown;
}

/**
 * Names the operations: as the application says, with a number for each further path or method of one endpoint, else by
 * method and path.
 * @throws TypeError if two endpoints have the same name from the application.
 */
export function operationIds<O extends Nameable>(operations: readonly O[]): Map<O, string> {
  const names = new Map<O, string>();
  const taken = new Set<string>();
  const give = (operation: O, wanted: string): void => {
    const name = freeName(wanted, one => taken.has(one));
    names.set(operation, name);
    taken.add(name);
  };
  const given = operations.filter(({ operationId }) => operationId !== undefined);
  for (const id of new Set(given.map(({ operationId }) => operationId))) {
    const [first, ...others] = given.filter(({ operationId }) => operationId === id);
    const other = others.find(({ endpoint }) => endpoint !== first?.endpoint);
    if (first && other)
      throw new TypeError(
        `openapi: ${first.where} and ${other.where} have the same operationId, ${JSON.stringify(id)}. ` +
          'Give each endpoint one of its own, or none.',
      );
    if (first && id !== undefined) give(first, id);
  }
  for (const one of operations) if (!names.has(one)) give(one, one.operationId ?? camelCase(one.where));
  return names;
}

/** Makes `postOrdersById` of `POST /orders/{id}`. */
function camelCase(where: string): string {
  const [method = '', path = ''] = where.split(' ');
  const words = path.replace(/\{([^}]*)\}/g, 'By-$1').split(/[^\p{L}\d]+/u);
  return [method.toLowerCase(), ...words.map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join('');
}
