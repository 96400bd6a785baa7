import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './usage-error';

/** Reads a package.json, which may begin with a byte order mark. @throws UsageError if it is not a JSON object. */
export function readPackage(path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Returns the package.json of the package that a file belongs to: the nearest one with a name or a version, as those of
 * build folders may say a `type` only. It is empty if there is none.
 */
export function packageOf(path: string): Readonly<Record<string, unknown>> {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const found = existsSync(file) ? readPackage(file) : {};
    if ('name' in found || 'version' in found || dirname(folder) === folder) return found;
  }
}
