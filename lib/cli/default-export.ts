import { importModule } from './import-module';
import { UsageError } from './usage-error';

/**
 * Returns the options that a module exports by default.
 * @param owner the function that takes them, for the message.
 * @param check throws for options that it does not take.
 * @throws UsageError that names the module, for options that are missing or refused.
 */
export async function defaultExport<O extends object>(
  path: string,
  owner: string,
  check: (options: O) => unknown,
): Promise<O> {
  const { default: byDefault } = await importModule(path);
  // A module that was compiled to CommonJS has its default export as a property of its default export.
  const { default: options = byDefault } = Object(byDefault) as { default?: unknown };
  if (typeof options !== 'object' || options === null)
    throw new UsageError(`${path} has no default export with the options of ${owner}.`);
  try {
    check(options as O);
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
  return options as O;
}
