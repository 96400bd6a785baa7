import { readFileSync } from 'node:fs';
import { UsageError } from './usage-error';

/** Reads a package.json, which may begin with a byte order mark. @throws UsageError if it is not a JSON object. */
export function readPackage(path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}
