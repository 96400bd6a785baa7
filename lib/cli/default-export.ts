import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from './usage-error';

/**
 * Returns the options that a module exports by default.
 * @param owner the function that takes them, for the message.
 */
export async function defaultExport<O extends object>(path: string, owner: string): Promise<O> {
  const { default: options } = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
  if (typeof options !== 'object' || options === null)
    throw new UsageError(`${path} has no default export with the options of ${owner}.`);
  return options as O;
}
