import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project';
import { program } from './run-time';
import { typesWith } from './types';

type Ranges = Readonly<Record<string, string>>;

/** The lowest version of each range: `^4.19.0 || ^5.0.0` is 4.19.0. */
const lowestOf = (ranges: Ranges, names = Object.keys(ranges)): Record<string, string> =>
  Object.fromEntries(names.map(name => [name, /\d+\.\d+\.\d+/.exec(ranges[name] ?? '')?.[0] ?? '']));

/** The lowest version of everything that package.json names, on the lowest Node. (The other areas have the latest.) */
export function lowest(root: string): readonly Project[] {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'peerDependencies',
    Ranges
  >;
  // npm would give this version to Express 4, too, which needs another major version of it.
  const overrides = lowestOf(
    dependencies,
    Object.keys(dependencies).filter(name => name !== 'path-to-regexp'),
  );
  const keyv = overrides['keyv'] ?? '';
  const at = (project: Project): Project => ({
    ...project,
    area: 'lowest versions',
    node: '20',
    overrides: Object.fromEntries(Object.entries(overrides).filter(([name]) => project.packages[name] === undefined)),
  });
  const types = typesWith(root, 'npm', '~5.9.3', '4', 'strictest');
  const known = Object.keys(peerDependencies).filter(name => name in types.packages);
  const stores = { redis: ['@keyv/redis'], valkey: ['@keyv/valkey'], postgres: ['@keyv/postgres', 'pg'] } as const;
  return [
    ...Object.entries(stores).map(([store, names]) => {
      const packages = { ...lowestOf(peerDependencies, ['express', ...names]), keyv };
      return at(program(store, 'npm', store as keyof typeof stores, packages, ['20']));
    }),
    at({ ...types, packages: { ...types.packages, ...lowestOf(peerDependencies, known), keyv } }),
  ];
}
