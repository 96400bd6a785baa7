import { execFileSync, spawnSync } from 'node:child_process';

/** A server that specs start processes of, and the packages that have it. */
export interface InstallableServer {
  readonly name: string;
  readonly apt: string;
  readonly brew: string;
  isHere(): boolean;
}

export const has = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Installs a server where it is missing: the specs run against real ones. */
export function installServer(server: InstallableServer): void {
  if (server.isHere()) return;
  const [command, ...steps] = installer(server);
  process.stdout.write(`\n${server.name} is not installed; installing it with ${command}.\n`);
  try {
    for (const [file, ...args] of steps)
      execFileSync(file, args, {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
  } catch (error) {
    throw new Error(
      `${server.name} could not be installed with ${command}: install it by hand and run the tests again.`,
      { cause: error },
    );
  }
  if (!server.isHere())
    throw new Error(
      `${command} ended well, but there is still no ${server.name}: install it by hand and run the tests again.`,
    );
}

type Command = readonly [file: string, ...args: string[]];

function installer({ name, apt, brew }: InstallableServer): readonly [name: string, ...steps: Command[]] {
  const asRoot = (...command: Command): Command => (process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]);
  if (has('apt-get'))
    return ['apt-get', asRoot('apt-get', 'update'), asRoot('apt-get', 'install', '-y', '--no-install-recommends', apt)];
  if (has('brew')) return ['brew', ['brew', 'install', brew]];
  throw new Error(
    `The specs need ${name}, and neither apt-get nor brew is here to install it: install it by hand and run the tests again.`,
  );
}
