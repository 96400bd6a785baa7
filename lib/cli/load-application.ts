import { Server } from 'node:net';
import { resolve as absolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from './usage-error';

/**
 * Loads a module, and returns the Express application that it exports, as `app` or by default, or returns from an
 * exported function; else the one that it would serve. No server of the module listens.
 * @throws UsageError if there is none.
 */
export async function loadApplication(path: string): Promise<object> {
  const served: unknown[] = [];
  const listening = new Promise<void>(resolve => {
    Server.prototype.listen = function listen(this: Server) {
      served.push(...this.listeners('request'));
      setImmediate(resolve);
      return this;
    };
  });
  // A module that waits until its server listens would wait forever.
  const loaded = import(pathToFileURL(absolute(path)).href) as Promise<Record<string, unknown>>;
  const { default: byDefault, app } = (await Promise.race([loaded, listening])) ?? {};
  // What a CommonJS module exports is the default export.
  const inDefault = (byDefault as { readonly app?: unknown } | undefined)?.app;
  for (const candidate of [app, inDefault, byDefault, ...served]) {
    if (isApplication(candidate)) return candidate;
    const made: unknown = isFunction(candidate) && candidate.length === 0 ? await candidate() : undefined;
    if (isApplication(made)) return made;
  }
  throw new UsageError(
    `${path} exports no Express application. Export it as \`app\` or by default, or a function without parameters that returns it.`,
  );
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

const isApplication = (value: unknown): value is object =>
  isFunction(value) && 'use' in value && ('handle' in value || 'stack' in value);
