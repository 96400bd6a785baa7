import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The handlers of several processes note their runs in this file, which the library does not know. */
export class RunLog {
  private readonly directory = mkdtempSync(join(tmpdir(), 'bindonce-run-log-'));
  readonly file = join(this.directory, 'log');

  constructor() {
    writeFileSync(this.file, '');
  }

  /** How often the handler was started for a key. */
  runs(key: string): number {
    return readFileSync(this.file, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as { what: string; key: string })
      .filter(entry => entry.what === 'start' && entry.key === key).length;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
