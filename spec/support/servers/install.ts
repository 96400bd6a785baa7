import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type Command = readonly [file: string, ...args: string[]];

/** What specs start processes of, and the packages that have it. */
interface Installable {
  readonly name: string;
  readonly apt: string;
  readonly brew: string;
  isHere(): boolean;
}

const has = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** The name of the browser's executable on this machine. */
export const browserExecutable = (): string | undefined => ['chromium', 'chromium-browser', 'google-chrome'].find(has);

/** The directory of `initdb` and `postgres`: on the PATH, else the newest version that a package has installed. */
export function postgresBinaries(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  // Where packages put what they leave out of the PATH: a directory for each version.
  const packaged = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'].flatMap(newestFirst);
  return [...onPath, ...packaged].find(directory =>
    ['initdb', 'postgres'].every(name => existsSync(join(directory, name))),
  );
}

function newestFirst(parent: string): string[] {
  if (!existsSync(parent)) return [];
  const versionIn = (name: string): number => Number(/\d+$/.exec(name)?.[0]);
  return readdirSync(parent)
    .filter(name => /^(postgresql@)?\d+$/.test(name))
    .sort((a, b) => versionIn(b) - versionIn(a))
    .map(name => join(parent, name, 'bin'));
}

const installable: readonly Installable[] = [
  { name: 'redis-server', apt: 'redis-server', brew: 'redis', isHere: () => has('redis-server') },
  // On Debian, the package also makes and starts a cluster on port 5432, as for everybody who installs it.
  { name: 'postgres', apt: 'postgresql', brew: 'postgresql@16', isHere: () => postgresBinaries() !== undefined },
  { name: 'chromium', apt: 'chromium', brew: 'chromium', isHere: () => browserExecutable() !== undefined },
];

/** Jest's global setup: there must be real servers, and a real browser, to run the specs against. */
export default function install(): void {
  for (const one of installable) if (!one.isHere()) installOne(one);
}

function installOne({ name, apt, brew, isHere }: Installable): void {
  const [command, ...steps] = installer(name, apt, brew);
  process.stdout.write(`\n${name} is not installed; installing it with ${command}.\n`);
  try {
    for (const [file, ...args] of steps)
      execFileSync(file, args, {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    if (!isHere()) throw new Error(`${command} ended well, but there is still no ${name}`);
  } catch (cause) {
    throw new Error(`${name} could not be installed with ${command}: install it by hand and run the tests again.`, {
      cause,
    });
  }
}

function installer(name: string, apt: string, brew: string): readonly [name: string, ...steps: Command[]] {
  const asRoot = (...command: Command): Command => (process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]);
  if (has('apt-get'))
    return ['apt-get', asRoot('apt-get', 'update'), asRoot('apt-get', 'install', '-y', '--no-install-recommends', apt)];
  if (has('brew')) return ['brew', ['brew', 'install', brew]];
  throw new Error(`The specs need ${name}, and neither apt-get nor brew is here to install it.`);
}
