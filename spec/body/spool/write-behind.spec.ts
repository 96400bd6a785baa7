import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { WriteBehind } from '../../../lib/body/spool/write-behind';
import { SmallDisk } from '../../support/small-disk';
import { TemporaryDirectory } from '../../support/temporary-directory';

const directory = new TemporaryDirectory();
afterAll(() => {
  directory.remove();
});

/** Opens a file that tells how many bytes each write had. */
async function openFile(path = join(directory.path, randomBytes(8).toString('hex'))) {
  const file = await open(path, 'wx');
  const writes: number[] = [];
  const writev = file.writev.bind(file);
  file.writev = ((buffers: readonly Buffer[]) => {
    writes.push(Buffer.concat(buffers).length);
    return writev(buffers);
  }) as FileHandle['writev'];
  return { file, path, writes };
}

it('writes all chunks in their order, those that come during a write together', async () => {
  const { file, path, writes } = await openFile();
  const behind = new WriteBehind(file);
  const chunks = Array.from({ length: 2_000 }, (_, index) => randomBytes((index * 37) % 3_000));
  for (const chunk of chunks) await behind.write(chunk);
  await behind.end();
  await file.close();
  expect(readFileSync(path).equals(Buffer.concat(chunks))).toBe(true);
  expect(writes.length).toBeLessThan(chunks.length / 2);
});

it('begins to write at once, and lets no more than 256 KiB wait', async () => {
  const { file, writes } = await openFile();
  const behind = new WriteBehind(file);
  for (let index = 0; index < 100; index++) {
    await behind.write(Buffer.alloc(65_536));
    expect(writes[0]).toBe(65_536);
  }
  await behind.end();
  await file.close();
  expect(Math.max(...writes)).toBeLessThanOrEqual(5 * 65_536);
});

it('writes the rest of what a write has taken a part of', async () => {
  const { file, path } = await openFile();
  const writev = file.writev.bind(file);
  file.writev = (([first = Buffer.alloc(0)]: readonly Buffer[]) =>
    writev([first.subarray(0, first.length / 2)])) as FileHandle['writev'];
  const behind = new WriteBehind(file);
  const chunks = Array.from({ length: 100 }, () => randomBytes(1_000));
  for (const chunk of chunks) await behind.write(chunk);
  await behind.end();
  await file.close();
  expect(readFileSync(path).equals(Buffer.concat(chunks))).toBe(true);
});

describe('after a write has failed', () => {
  const disk = SmallDisk.mount(1);
  afterAll(() => disk?.unmount());

  /** On a disk of 1 MB, a write is cut short before one fails; where one may not mount any, the file cannot be written. */
  async function openFailing(): Promise<FileHandle> {
    if (disk) return (await openFile(join(disk.path, 'full'))).file;
    const { file, path } = await openFile();
    await file.close();
    return open(path, 'r');
  }

  it('each later call reports it', async () => {
    const file = await openFailing();
    const behind = new WriteBehind(file);
    const writeMuch = async (): Promise<void> => {
      for (let index = 0; index < 100; index++) await behind.write(Buffer.alloc(65_536));
    };
    await expect(writeMuch()).rejects.toThrow(/ENOSPC|EBADF/);
    await expect(behind.write(Buffer.alloc(1))).rejects.toThrow(/ENOSPC|EBADF/);
    await expect(behind.end()).rejects.toThrow(/ENOSPC|EBADF/);
    await file.close();
  });
});
