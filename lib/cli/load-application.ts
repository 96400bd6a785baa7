import type { Routed } from '../openapi/routes';
import { importModule } from './import-module';
import { UsageError } from './usage-error';
import { withoutListening } from './without-listening';

/**
 * Loads a module, and returns its Express application: the one that it exports, as `app` or by default, or returns
 * from a function that it exports so; else the one that it would serve, or that its `createApp()` returns. No server of
 * the module listens.
 * @throws UsageError if there is none, or if it is not known which one.
 */
export async function loadApplication(path: string): Promise<Routed> {
  const { result, servers } = await withoutListening(path, async started => {
    const exports: Exports = await importModule(path);
    return (await exportedAs(APPLICATIONS, exports)) ?? (started.size > 0 ? undefined : exportedAs(FACTORIES, exports));
  });
  if (result) return result;
  const [served, ...others] = new Set(
    [...servers].flatMap(server => server.listeners('request')).filter(isApplication),
  );
  if (served && others.length === 0) return served;
  throw new UsageError(
    `${path} ${served ? 'serves several Express applications and exports none' : 'exports no Express application'}. ` +
      'Export it as `app` or by default, or export a function without parameters that returns it, as `createApp` or ' +
      'by default.',
  );
}

/** The names under which an application, or a function that makes it, is exported. */
const APPLICATIONS = ['app', 'default'];
/** Names of functions that make one. Other functions may do anything. */
const FACTORIES = ['createApp', 'buildApp', 'makeApp', 'getApp'];

type Exports = Readonly<Record<string, unknown>>;

async function exportedAs(names: readonly string[], exports: Exports): Promise<Routed | undefined> {
  // The exports of a CommonJS module are one default export. If it was compiled from an ES module, they have another.
  const inDefault = Object(exports['default']) as Exports;
  const all = [exports, inDefault, Object(inDefault['default']) as Exports];
  for (const candidate of new Set(names.flatMap(name => all.map(one => one[name])))) {
    const found: unknown = await (isFactory(candidate) ? candidate() : candidate);
    if (isApplication(found)) return found;
  }
  return undefined;
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

/** Returns true for a function that makes an application. A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  isFunction(value) && value.length === 0 && !/^class\b/.test(Function.prototype.toString.call(value));

const isApplication = (value: unknown): value is Routed =>
  isFunction(value) && 'use' in value && ('handle' in value || 'stack' in value);
