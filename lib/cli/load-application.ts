import { importModule } from './import-module';
import { UsageError } from './usage-error';
import { withoutListening } from './without-listening';

/**
 * Loads a module, and returns its Express application: the one that it exports, as `app` or by default, or returns from
 * an exported function; else the one that it would serve. No server of the module listens.
 * @throws UsageError if there is none, or if it is not known which one.
 */
export async function loadApplication(path: string): Promise<object> {
  const { result, servers } = await withoutListening(path, async () => exportedBy(await importModule(path)));
  if (result) return result;
  const [served, ...others] = new Set(
    [...servers].flatMap(server => server.listeners('request')).filter(isApplication),
  );
  if (served && others.length === 0) return served;
  throw new UsageError(
    `${path} ${served ? 'serves several Express applications and exports none' : 'exports no Express application'}. ` +
      'Export it as `app` or by default, or a function without parameters that returns it.',
  );
}

async function exportedBy(exports: Readonly<Record<string, unknown>>): Promise<object | undefined> {
  const { default: byDefault, app } = exports;
  // The exports of a CommonJS module are one default export.
  const inDefault = (byDefault as { readonly app?: unknown } | undefined)?.app;
  for (const candidate of [app, inDefault, byDefault]) {
    if (isApplication(candidate)) return candidate;
    const made: unknown = isFactory(candidate) ? await candidate() : undefined;
    if (isApplication(made)) return made;
  }
  return undefined;
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

/** Returns true for a function that makes an application. A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  isFunction(value) && value.length === 0 && !/^class\b/.test(Function.prototype.toString.call(value));

const isApplication = (value: unknown): value is object =>
  isFunction(value) && 'use' in value && ('handle' in value || 'stack' in value);
