import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

/** A folder of one suite, to see which files come and go. */
export class TemporaryDirectory {
  readonly path: string;

  constructor(parent = tmpdir()) {
    this.path = mkdtempSync(join(parent, 'bindonce-spec-'));
  }

  get files(): string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name));
  }

  /** Resolves when there are no files and no folders in it. */
  async emptied(): Promise<void> {
    while (readdirSync(this.path).length > 0) await setImmediate();
  }

  /** Resolves when there is a file in it. */
  async filled(): Promise<void> {
    while (this.files.length === 0) await setImmediate();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
