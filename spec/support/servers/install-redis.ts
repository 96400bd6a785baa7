import { has, type InstallableServer } from './install-server';

export const redis: InstallableServer = {
  name: 'redis-server',
  apt: 'redis-server',
  brew: 'redis',
  isHere: () => has('redis-server'),
};
