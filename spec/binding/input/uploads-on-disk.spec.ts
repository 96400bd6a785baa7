import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import express from 'express';
import { bindRequest, dto, file, list } from '../../../lib';
import { ask } from '../../support/ask';
import { multipart } from '../../support/multipart';
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
