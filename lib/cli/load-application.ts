import { UsageError } from './usage-error';
import { loadWithoutListening, type Loaded } from './without-listening';

/**
 * Loads a module, and returns its Express application. No server of the module listens.
 * @throws UsageError if there is none.
 */
export async function loadApplication(path: string): Promise<object> {
  const app = await applicationOf(await loadWithoutListening(path));
  if (app) return app;
  throw new UsageError(
    `${path} exports no Express application. Export it as \`app\` or by default, or a function without parameters that returns it.`,
  );
}

/**
 * Returns the Express application that a module exports, as `app` or by default, or returns from an exported function;
 * else the one that it would serve.
 */
export async function applicationOf({ exports, served }: Loaded): Promise<object | undefined> {
  const { default: byDefault, app } = exports;
  // What a CommonJS module exports is the default export.
  const inDefault = (byDefault as { readonly app?: unknown } | undefined)?.app;
  for (const candidate of [app, inDefault, byDefault, ...served]) {
    if (isApplication(candidate)) return candidate;
    const made: unknown = isFactory(candidate) ? await candidate() : undefined;
    if (isApplication(made)) return made;
  }
  return undefined;
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

/** A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  isFunction(value) && value.length === 0 && !/^class\b/.test(Function.prototype.toString.call(value));

const isApplication = (value: unknown): value is object =>
  isFunction(value) && 'use' in value && ('handle' in value || 'stack' in value);
