import { readdirSync, readlinkSync } from 'node:fs';

/** Paths of the files under `folder` that this process holds open, as Linux shows them; removed ones end in ` (deleted)`. */
export function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap(descriptor => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(`${folder}/`) ? [path] : [];
    } catch {
      return [];
    }
  });
}
