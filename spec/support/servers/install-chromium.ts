import type { InstallableServer } from './install-server';
import { has } from './install-server';

/** No server, but the browser that the pages are tried in. */
export const chromium: InstallableServer = {
  name: 'chromium',
  apt: 'chromium',
  brew: 'chromium',
  isHere: () => executable() !== undefined,
};

/** The name of the browser's executable on this machine. */
export function executable(): string | undefined {
  return ['chromium', 'chromium-browser', 'google-chrome'].find(has);
}
