import { spawnSync } from 'node:child_process';
import type { InstallableServer } from './install-server';

/** No server, but what makes the certificates of one. */
export const openssl: InstallableServer = {
  name: 'openssl',
  apt: 'openssl',
  brew: 'openssl',
  isHere: () => spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0,
};
