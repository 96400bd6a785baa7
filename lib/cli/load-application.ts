import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Routed } from '../openapi/routes';
import { isClass } from '../options/check';
import { UsageError } from './command-line';

/** A module does not exist, or threw while it was loaded: then the cause is its error. */
export class LoadError extends Error {}

/** The module that was loaded last, for the message of a process that ends early. */
export const lastLoaded: { path?: string } = {};

type Exports = Readonly<Record<string, unknown>>;

/** Imports a module by its path. @throws LoadError */
export async function importModule(path: string): Promise<Exports> {
  // The error of Node would be a stack of its loader.
  if (!existsSync(path))
    throw new LoadError(`There is no file ${resolve(path)}. Correct the path, or build the module first.`);
  if (statSync(path).isDirectory()) throw new LoadError(`${path} is a folder. Name a module in it.`);
  lastLoaded.path = path;
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Exports;
  } catch (cause) {
    // Node itself loads TypeScript from version 22.18 on.
    const isUnknown = cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_FILE_EXTENSION';
    const advice = ' (name what the compiler has made of it, or set NODE_OPTIONS="--import tsx")';
    throw new LoadError(`${path} could not be loaded${isUnknown ? advice : ''}. Its error is:`, { cause });
  }
}

/** The names under which an application, or a function that makes it, is exported. Other functions may do anything. */
const NAMES = ['app', 'default', 'createApp'];

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

/** Returns true for a function that makes an application. A class cannot be called. */
const isFactory = (value: unknown): value is () => unknown =>
  typeof value === 'function' && value.length === 0 && !isClass(value);

const isApplication = (value: unknown): value is Routed =>
  typeof value === 'function' && 'use' in value && ('handle' in value || 'stack' in value);
