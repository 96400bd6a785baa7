import { execFileSync, spawnSync } from 'node:child_process';

const has = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Jest's global setup: the specs run against real redis-server processes, so there must be one to start. */
export default function installRedis(): void {
  if (has('redis-server')) return;
  const [command, ...steps] = installer();
  process.stdout.write(`\nredis-server is not installed; installing it with ${command}.\n`);
  try {
    for (const [file, ...args] of steps) execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  } catch (error) {
    throw new Error(`redis-server could not be installed with ${command}: install it by hand and run the tests again.`, { cause: error });
  }
  if (!has('redis-server')) throw new Error(`${command} ended well, but there is still no redis-server on the PATH: install it by hand and run the tests again.`);
}

type Command = readonly [file: string, ...args: string[]];

function installer(): readonly [name: string, ...steps: Command[]] {
  const asRoot = (...command: Command): Command => (process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]);
  if (has('apt-get')) return ['apt-get', asRoot('apt-get', 'update'), asRoot('apt-get', 'install', '-y', '--no-install-recommends', 'redis-server')];
  if (has('brew')) return ['brew', ['brew', 'install', 'redis']];
  throw new Error('The specs need redis-server, and neither apt-get nor brew is here to install it: install it by hand and run the tests again.');
}
