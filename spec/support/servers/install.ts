import { chromium } from './install-chromium';
import { postgres } from './install-postgres';
import { redis } from './install-redis';
import { installServer } from './install-server';

/** Jest's global setup: there must be real servers to run the specs against. */
export default function install(): void {
  for (const server of [redis, postgres, chromium]) installServer(server);
}
