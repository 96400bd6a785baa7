import fs, { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeOrCheck } from '../../lib/cli/output-file';
import { TemporaryDirectory } from '../support/temporary-directory';

let temporary: TemporaryDirectory;
let path: string;
beforeEach(() => {
  temporary = new TemporaryDirectory();
  path = join(temporary.path, 'openapi.json');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
});
afterEach(() => {
  jest.restoreAllMocks();
  temporary.remove();
});

/** The system refuses that a file takes the place of another. */
const refuse = (code: string): void => {
  jest.spyOn(fs, 'renameSync').mockImplementation(() => {
    throw Object.assign(new Error(`${code}: refused, rename`), { code });
  });
};

it.each(['EPERM', 'EBUSY'])(
  'a file that an editor or a virus scanner holds open, so that it cannot be replaced (%s), is written in place',
  code => {
    refuse(code);
    expect(writeOrCheck(path, 'new')).toBe('written');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o640]);
    expect(readdirSync(temporary.path)).toEqual(['openapi.json']);
  },
);

it('a file that cannot be replaced for another reason is left as it is', () => {
  refuse('ENOSPC');
  expect(() => writeOrCheck(path, 'new')).toThrow(`${path} is not a file that can be written: ENOSPC`);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(temporary.path)).toEqual(['openapi.json']);
});
