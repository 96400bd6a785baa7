import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { bindRequest, dto, file, idempotency, list } from '../../../lib';
import { DiskStorage } from '../../../lib/binding/input/disk-storage';
import { ClientGone } from '../../../lib/http/client-gone';
import { ask } from '../../support/ask';
import { multipart } from '../../support/multipart';
import { NodeProcess } from '../../support/servers/node-process';
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
const script = join(__dirname, '../../support/programs/upload-server.mjs');

it('files on disk can be read by the user of the process alone, and so can their folder', async () => {
  const directory = new TemporaryDirectory();
  const before = process.umask(0);
  const app = express().post(
    '/',
    bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: directory.path } }),
    (req, res) => {
      res.json(req.dto.photos.map(({ path }) => [statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]));
    },
  );
  const { body } = await ask(app, form);
  process.umask(before);
  expect(body).toEqual([
    [0o600, 0o700],
    [0o600, 0o700],
  ]);
  await directory.emptied();
  directory.remove();
});

describe('a long file that idempotency() has received', () => {
  const disk = SmallDisk.mount(10);
  const directory = new TemporaryDirectory();
  afterAll(() => {
    disk?.unmount();
    directory.remove();
  });

  it.each([
    ['is moved', directory.path, true],
    ['is copied to another file system', disk?.path ?? '/dev/shm', false],
  ])('%s, and is gone after the response', async (_what, path, isMoved) => {
    const app = express().post(
      '/',
      idempotency(),
      bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: path } }),
      (req, res) => {
        res.json(
          req.dto.photos.map(photo => [
            photo.size,
            readFileSync(photo.path, 'latin1').slice(0, 5),
            statSync(photo.path).size,
            statSync(photo.path).mode & 0o777,
            openFiles().includes(photo.path),
          ]),
        );
      },
    );
    const headers = { ...form.headers, 'Idempotency-Key': randomUUID() };
    const { body } = await ask(app, { ...form, headers });
    expect(body).toEqual([
      [5, 'first', 5, 0o600, false],
      [2_000_000, 'xxxxx', 2_000_000, 0o600, isMoved],
    ]);
    while (readdirSync(path).some(name => name.startsWith('bindonce-'))) await pause(5);
  });
});

/** The paths of the files that this process has open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap(descriptor => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}

/** A process that holds an upload and never answers. */
async function holding(
  directory: string,
): Promise<{ server: NodeProcess; paths: string[]; open: string[]; leave: () => void }> {
  const server = await NodeProcess.start(script, { TMPDIR: directory, DIRECTORY: directory });
  const leaving = new AbortController();
  fetch(`${server.url}/hold`, {
    method: 'POST',
    headers: { 'Idempotency-Key': 'k', ...form.headers },
    body: new Uint8Array(form.body),
    signal: leaving.signal,
  }).catch(() => undefined);
  const line = await server.printed(/^holding /);
  return {
    server,
    leave: () => {
      leaving.abort();
    },
    ...(JSON.parse(line.slice('holding '.length)) as { paths: string[]; open: string[] }),
  };
}

it('a file whose turn comes when the response is over is not stored', async () => {
  const directory = new TemporaryDirectory();
  const { _handleFile: handleFile } = DiskStorage.prototype;
  const watched = jest.spyOn(DiskStorage.prototype, '_handleFile');
  const handled = new Promise(resolve => {
    watched.mockImplementation(function (this: DiskStorage, ...[req, photo, done]) {
      handleFile.call(this, req, photo, (error, info) => {
        done(error, info);
        resolve(error);
      });
    });
  });
  const app = express().post(
    '/',
    idempotency(),
    (_req, res, next) => {
      next();
      res.end('late');
    },
    bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: directory.path } }),
  );
  // What is not declared is read to its end, and only then is a folder made.
  const undeclared = { name: 'other', filename: 'o.png', value: Buffer.alloc(100_000) };
  const photo = { name: 'photos', filename: 'a.png', value: 'x' };
  const parts = multipart([undeclared, undeclared, undeclared, photo], 'b1');
  const response = await ask(app, { ...parts, key: randomUUID() });
  expect(response.text).toBe('late');
  expect(await handled).toBeInstanceOf(ClientGone);
  watched.mockRestore();
  expect(readdirSync(directory.path)).toEqual([]);
  directory.remove();
});

describe('a process that is killed', () => {
  const directory = new TemporaryDirectory();
  afterAll(() => {
    directory.remove();
  });

  it('leaves no body but its long files, and the next process removes those and the uploads, but nothing else', async () => {
    const dead = await holding(directory.path);
    const alive = await holding(directory.path);
    // What is spooled has no name, except for long files.
    expect([dead.paths.length, dead.open.filter(path => path.endsWith(' (deleted)')).length]).toEqual([2, 1]);
    await dead.server.kill();
    const [prefix = '', machine = ''] = /bindonce-([0-9a-f]+)-\d+-/.exec(dead.paths[0] ?? '') ?? [];
    const left = readdirSync(directory.path).filter(name => name.startsWith(prefix));
    expect(left).toHaveLength(2);
    // The name of a dead process, but not what such a process makes.
    const pid = '4194305';
    const others = ['open', 'a-file', 'a-link', 'another-name', 'yesterday'].map(name =>
      join(
        directory.path,
        name === 'another-name'
          ? 'bindonce-mine'
          : `bindonce-${name === 'yesterday' ? '00000000' : machine}-${pid}-1-${name.replace('-', '')}`,
      ),
    );
    const [open = '', aFile = '', aLink = '', another = '', yesterday = ''] = others;
    for (const folder of [open, another, yesterday]) mkdirSync(folder, 0o700);
    chmodSync(open, 0o755);
    writeFileSync(aFile, 'x', { mode: 0o700 });
    symlinkSync(tmpdir(), aLink);
    const lastWeek = join(directory.path, `bindonce-00000000-${pid}-1-lastweek`);
    mkdirSync(lastWeek, 0o700);
    utimesSync(lastWeek, Date.now() / 1_000 - 700_000, Date.now() / 1_000 - 700_000);

    const next = await NodeProcess.start(script, { TMPDIR: directory.path, DIRECTORY: directory.path });
    expect((await ask(next.url, { ...form, path: '/disk' })).status).toBe(200);
    const present = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    while ([...left, basename(lastWeek)].some(name => present(join(directory.path, name)))) await pause(5);
    expect(others.filter(path => !present(path))).toEqual([]);
    expect(alive.paths.map(path => readFileSync(path).length)).toEqual([5, 2_000_000]);
    await Promise.all([alive.server.kill(), next.kill()]);
    dead.leave();
    alive.leave();
  });
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

  it('does not end the process, and is removed when the next file is made', async () => {
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
    expect((await ask(app, form)).status).toBe(200);
    while (readdirSync(directory).length > 0) await pause(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(warned.mock.calls[0]?.[0]).toMatch(/^bindonce: .* could not be removed .*It is tried again/);
    warned.mockRestore();
  });
});
