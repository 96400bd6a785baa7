import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { InstallableServer } from './install-server';

/** On Debian, the package also makes and starts a cluster on port 5432, as for everybody who installs it; the specs leave it alone. */
export const postgres: InstallableServer = {
  name: 'postgres',
  apt: 'postgresql',
  brew: 'postgresql@16',
  isHere: () => binaries() !== undefined,
};

/** Where packages put what they leave out of the PATH: a directory for each version. */
const PACKAGED = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'];

/** The directory of `initdb` and `postgres`: on the PATH, else the newest version that a package has installed. */
export function binaries(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  return [...onPath, ...PACKAGED.flatMap(newestFirst)].find(directory =>
    ['initdb', 'postgres'].every(name => existsSync(join(directory, name))),
  );
}

function newestFirst(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter(name => /^(postgresql@)?\d+$/.test(name))
    .sort((a, b) => versionIn(b) - versionIn(a))
    .map(name => join(parent, name, 'bin'));
}

const versionIn = (name: string): number => Number(/\d+$/.exec(name)?.[0]);
