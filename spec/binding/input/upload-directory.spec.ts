import fs, { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { bindRequest, dto, file, type UploadOptions } from '../../../lib';
import { SmallDisk } from '../../support/small-disk';
import { TemporaryDirectory } from '../../support/temporary-directory';

class Upload extends dto({ photo: file }) {}
const make = (uploads: UploadOptions) => bindRequest(Upload, { allowFormData: true, uploads });

/** Runs `work` as a user other than root, who may write everywhere. */
function asOther(work: () => void): void {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

const readOnly = (): never => {
  throw Object.assign(new Error('EROFS: read-only file system, mkdir'), { code: 'EROFS' });
};

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = new TemporaryDirectory();
});
afterEach(() => {
  temporary.remove();
});

describe('a folder for uploads that cannot be made is refused when the middleware is made', () => {
  /** Tries to use the folder below the temporary one, and expects the sentences about its path. */
  const refusal = (below: string, remedy: string, code: string) => {
    const directory = join(temporary.path, below);
    expect(() => make({ storage: 'disk', directory })).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        message: expect.stringContaining(
          `bindRequest: uploads.directory ${JSON.stringify(directory)} cannot be made. ${remedy} (${code}: `,
        ) as string,
        cause: expect.objectContaining({ code }) as object,
      }),
    );
  };

  it('a file of its name', () => {
    writeFileSync(join(temporary.path, 'uploads'), '');
    refusal('uploads', 'There is a file of this name; name a folder, or remove the file.', 'EEXIST');
  });

  it('a file in its path', () => {
    writeFileSync(join(temporary.path, 'data'), '');
    refusal('data/uploads', 'A part of the path is a file; name a folder, or remove the file.', 'ENOTDIR');
  });

  it('a folder in which this process may not write', () => {
    mkdirSync(join(temporary.path, 'theirs'), { mode: 0o500 });
    asOther(() => {
      const remedy = 'Let the user of this process write to the folder above it, or name another folder.';
      refusal('theirs/uploads', remedy, 'EACCES');
    });
  });

  it('another reason', () => {
    refusal('x'.repeat(300), 'Name a folder that this process can make.', 'ENAMETOOLONG');
  });

  const disk = SmallDisk.mount(1);
  it('a disk that can only be read', () => {
    disk?.protect();
    // Where one may not mount any: what node says of such a disk.
    const making = disk ? undefined : jest.spyOn(fs, 'mkdirSync').mockImplementation(readOnly);
    try {
      const directory = `${disk?.path ?? temporary.path}/a/uploads`;
      expect(() => make({ storage: 'disk', directory })).toThrow(
        'cannot be made. Its disk can only be read; name a folder on another one. (EROFS: ',
      );
    } finally {
      making?.mockRestore();
    }
  });
  afterAll(() => {
    disk?.unmount();
  });

  it("the system's temporary folder", () => {
    const path = join(temporary.path, 'file');
    writeFileSync(path, '');
    const tmpdir = jest.spyOn(os, 'tmpdir').mockReturnValue(path);
    try {
      expect(() => make({ storage: 'disk' })).toThrow(
        `bindRequest: the system's temporary folder (TMPDIR, on Windows TEMP) ${JSON.stringify(path)} cannot be made. There is a file`,
      );
    } finally {
      tmpdir.mockRestore();
    }
  });
});

it('a folder for uploads is made with the middleware, with those above it', () => {
  const directory = join(temporary.path, 'a/b');
  make({ storage: 'disk', directory });
  expect(statSync(directory).isDirectory()).toBe(true);
});

describe('a folder for uploads that exists', () => {
  it('is refused when the middleware is made if this process may not write there', () => {
    const directory = join(temporary.path, 'theirs');
    mkdirSync(directory, { mode: 0o555 });
    chmodSync(temporary.path, 0o755);
    asOther(() => {
      expect(() => make({ storage: 'disk', directory })).toThrow(
        expect.objectContaining({
          name: 'TypeError',
          message: expect.stringContaining(
            `bindRequest: uploads.directory ${JSON.stringify(directory)} cannot be written to. ` +
              'Let the user of this process write to it, or name another folder. (EACCES: ',
          ) as string,
          cause: expect.objectContaining({ code: 'EACCES' }) as object,
        }),
      );
    });
  });

  const disk = SmallDisk.mount(1);
  it('is refused if its disk can only be read', () => {
    disk?.protect();
    // Where one may not mount any: what node says of such a disk.
    const making = disk ? undefined : jest.spyOn(fs, 'mkdtempSync').mockImplementation(readOnly);
    try {
      expect(() => make({ storage: 'disk', directory: disk?.path ?? temporary.path })).toThrow(
        'cannot be written to. Its disk can only be read; name a folder on another one. (EROFS: ',
      );
    } finally {
      making?.mockRestore();
    }
  });
  afterAll(() => {
    disk?.unmount();
  });

  it('is taken if its disk is full: that passes', () => {
    const making = jest.spyOn(fs, 'mkdtempSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC: no space left on device, mkdtemp'), { code: 'ENOSPC' });
    });
    try {
      expect(() => make({ storage: 'disk', directory: temporary.path })).not.toThrow();
      expect(making).toHaveBeenCalled();
    } finally {
      making.mockRestore();
    }
  });

  it('is left as it is', () => {
    make({ storage: 'disk', directory: temporary.path });
    expect(readdirSync(temporary.path)).toEqual([]);
  });
});
