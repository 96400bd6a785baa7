import type { Routed } from '../openapi/routes';
import { importModule } from './import-module';
import { UsageError } from './usage-error';

/** The names under which an application, or a function that makes it, is exported. Other functions may do anything. */
const NAMES = ['app', 'default', 'createApp'];

type Exports = Readonly<Record<string, unknown>>;

/**
 * Loads a module, and returns the Express application that it exports, or that a function returns which it exports.
 * @throws UsageError if there is none.
 */
export async function loadApplication(path: string): Promise<Routed> {
  const exports = await importModule(path);
  // The exports of a CommonJS module are one default export. If it was compiled from an ES module, they have another.
  const inDefault = Object(exports['default']) as Exports;
  const all = [exports, inDefault, Object(inDefault['default']) as Exports];
  for (const candidate of NAMES.flatMap(name => all.map(one => one[name]))) {
    const found: unknown = await (isFactory(candidate) ? candidate() : candidate);
    if (isApplication(found)) return found;
  }
  throw new UsageError(
    `${path} exports no Express application. Export it as \`app\` or by default, or export a function without ` +
      'parameters that returns it, as `createApp` or by default.',
  );
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

/** Returns true for a function that makes an application. A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  isFunction(value) && value.length === 0 && !/^class\b/.test(Function.prototype.toString.call(value));

const isApplication = (value: unknown): value is Routed =>
  isFunction(value) && 'use' in value && ('handle' in value || 'stack' in value);
