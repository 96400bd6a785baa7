import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module does not exist, or threw while it was loaded: then the cause is its error. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/** The module that was loaded last, for the message of a process that ends early. */
export const lastLoaded: { path?: string } = {};

/** Imports a module by its path. @throws LoadError */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (!existsSync(path)) throw noFile(path);
  if (statSync(path).isDirectory()) throw new LoadError(`${path} is a folder. Name a module in it.`);
  lastLoaded.path = path;
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new LoadError(`${path} could not be loaded${adviceOn(error)}. Its error is:`, { cause: error });
  }
}

/** Makes the error of a path without a file: node's own is a stack of its loader. */
export function noFile(path: string): LoadError {
  return new LoadError(`There is no file ${resolve(path)}. Correct the path, or build the module first.`);
}

/** Advises how to load TypeScript; Node itself loads it from version 22.18 on. */
function adviceOn(error: unknown): string {
  const isUnknown = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
  return isUnknown ? ' (name what the compiler has made of it, or set NODE_OPTIONS="--import tsx")' : '';
}
