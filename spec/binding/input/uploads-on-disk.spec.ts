import { chmodSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { bindRequest, dto, file, list } from '../../../lib';
import { ask } from '../../support/ask';
import { multipart } from '../../support/multipart';
import { SmallDisk } from '../../support/small-disk';
import { TemporaryDirectory } from '../../support/temporary-directory';

class Upload extends dto({ photos: list(file) }) {}
const form = multipart(
  [
    { name: 'photos', filename: 'a.png', value: 'first' },
    { name: 'photos', filename: 'b.png', value: Buffer.alloc(2_000_000, 'x') },
  ],
  'b1',
);

it('files on disk are in a folder that only the user of the process can open', async () => {
  const directory = new TemporaryDirectory();
  const app = express().post(
    '/',
    bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: directory.path } }),
    (req, res) => {
      res.json(req.dto.photos.map(({ path }) => statSync(dirname(path)).mode & 0o777));
    },
  );
  expect((await ask(app, form)).body).toEqual([0o700, 0o700]);
  await directory.emptied();
  directory.remove();
});

describe('a file that cannot be removed', () => {
  const disk = SmallDisk.mount(10);
  const directory = disk?.path ?? new TemporaryDirectory().path;
  afterAll(() => {
    disk?.unmount();
  });
  /** Where one may not mount, one is not root, and a folder that may not be written to is enough. */
  const protect = (): void => {
    if (disk) disk.protect();
    else for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o500);
  };
  const unprotect = (): void => {
    if (disk) disk.unprotect();
    else for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o700);
  };

  it('does not end the process, and a warning names it', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', note);
    let isFirst = true;
    const app = express().post(
      '/',
      bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory } }),
      (_req, res) => {
        if (isFirst) protect();
        isFirst = false;
        res.end();
      },
    );
    expect((await ask(app, form)).status).toBe(200);
    while (warned.mock.calls.length === 0) await pause(5);
    expect(readdirSync(directory)).toHaveLength(1);
    unprotect();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(warned.mock.calls[0]?.[0]).toMatch(
      /^bindonce: .* could not be removed .*Check that the process may delete it/,
    );
    warned.mockRestore();
  });
});
