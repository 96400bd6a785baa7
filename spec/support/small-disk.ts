import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, for which one has to be root (in a user namespace at least). */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** @returns undefined where this process may not mount. */
  static mount(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path]).status === 0)
      return new SmallDisk(path);
    rmSync(path, { recursive: true });
    return undefined;
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}
