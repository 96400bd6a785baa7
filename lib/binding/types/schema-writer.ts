import { isThenable } from '../../basics/awaitable';

/**
 * Returns a value that is declared as a schema as it is: schemas say what is read, and check nothing that is written.
 * @param name of the schema's library.
 * @throws TypeError for a promise, or an array that has one, which JSON would show as an empty object.
 */
export function writableAsSchema(value: unknown, name: string): unknown {
  const refused = (what: string): TypeError =>
    new TypeError(`The response is declared as a schema of ${name}, but the handler passed ${what}.`);
  if (isUnawaited(value)) throw refused('a promise: await it first');
  if (Array.isArray(value) && value.some(isUnawaited))
    throw refused('a promise in an array: await Promise.all(…) of the array first');
  return value;
}

/** Returns true for a promise, also one of another library, such as a query of a database that has not been made. */
function isUnawaited(value: unknown): boolean {
  return isThenable(value) && !('toJSON' in value);
}
