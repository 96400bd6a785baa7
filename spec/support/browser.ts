import { execFileSync } from 'node:child_process';
import { chromium, type Browser } from 'playwright-core';
import { browserExecutable } from './servers/install';

/** Starts a Chromium without a window, which asks no host by itself. */
export function startBrowser(): Promise<Browser> {
  const executablePath = execFileSync('sh', ['-c', `command -v ${browserExecutable() ?? 'chromium'}`], {
    encoding: 'utf8',
  });
  return chromium.launch({
    executablePath: executablePath.trim(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
