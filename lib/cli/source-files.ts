import * as fs from 'node:fs';
import { join } from 'node:path';
import { noFile } from './import-module';
import { UsageError } from './usage-error';

const MODULE = /\.[cm]?js$/;
/** Node 22.18 and later load them, too; others with a loader. */
const TYPESCRIPT = /(?<!\.d)\.[cm]?ts$/;

/**
 * Finds the modules that paths name: modules, folders with all modules in them, and patterns.
 * @throws LoadError for a path without a file.
 * @throws UsageError for a folder or a pattern that names no module.
 */
export function sourceFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap(filesAt))];
}

function filesAt(path: string): string[] {
  const found = fs.existsSync(path) ? (fs.statSync(path).isDirectory() ? filesBelow(path) : [path]) : matching(path);
  if (found.length === 0) throw new UsageError(`${path} names no module.`);
  return found;
}

function filesBelow(folder: string): string[] {
  const isTypeScript = 'typescript' in process.features && process.features.typescript !== false;
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isOutsidePackages);
  return modulesAt(
    names.map(name => join(folder, name)),
    isTypeScript,
  );
}

function matching(pattern: string): string[] {
  if (!/[*?[{]/.test(pattern)) throw noFile(pattern);
  const { globSync } = fs as { globSync?: (pattern: string) => string[] };
  if (!globSync)
    throw new UsageError(
      `${pattern}: Node ${process.versions.node} does not expand patterns; Node 22 does. Name a folder instead.`,
    );
  const found = globSync(pattern);
  // A pattern that names the folder of packages means it; and TypeScript, whose loader may be set.
  return modulesAt(isOutsidePackages(pattern) ? found.filter(isOutsidePackages) : found, true);
}

/** Returns true for a path that does not lead through a folder of installed packages. */
const isOutsidePackages = (path: string): boolean => !/(^|[/\\])node_modules[/\\]/.test(path);

/**
 * Returns the modules among paths, sorted. A folder can be named like a module (`chart.js/`), and so can a link that
 * leads nowhere, or in a circle: Emacs locks a file by one (`.#orders.ts`).
 */
function modulesAt(paths: readonly string[], withTypeScript: boolean): string[] {
  return paths
    .filter(path => MODULE.test(path) || (withTypeScript && TYPESCRIPT.test(path)))
    .filter(path => fs.existsSync(path) && fs.statSync(path).isFile())
    .sort();
}
