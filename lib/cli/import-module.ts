import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module threw while it was loaded, or could not be found. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/** The module that was loaded last, for the message of a process that ends early. */
export const lastLoaded: { path?: string } = {};

/** Imports a module by its path. @throws LoadError */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  lastLoaded.path = path;
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new LoadError(`${path} could not be loaded${adviceOn(error)}`, { cause: error });
  }
}

/** Node loads TypeScript itself from version 22.18 on. */
function adviceOn(error: unknown): string {
  const isUnknown = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
  return isUnknown ? ' (name what the compiler has made of it, or set NODE_OPTIONS="--import tsx")' : '';
}
