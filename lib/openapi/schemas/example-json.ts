/**
 * Returns an example as the JSON that the document holds, so that `JSON.stringify` can write it. A bigint that a double
 * would round becomes text, as binding reads it.
 * @throws TypeError for a value that JSON has no form for.
 */
export function exampleJson(given: unknown): unknown {
  const text = textOf(given);
  const json: unknown = text === undefined ? undefined : JSON.parse(text);
  if (json === undefined || (json === null && given !== null))
    throw new TypeError(`JSON has no form for ${nameOf(given)}`);
  return json;
}

function textOf(given: unknown): string | undefined {
  try {
    return JSON.stringify(given, (_key, value: unknown) => (typeof value === 'bigint' ? exactly(value) : value));
  } catch (error) {
    throw new TypeError(`it cannot be written as JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

function exactly(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function nameOf(given: unknown): string {
  if (typeof given === 'function' || typeof given === 'symbol') return `a ${typeof given}`;
  return given instanceof Date ? 'an invalid Date' : String(given);
}
