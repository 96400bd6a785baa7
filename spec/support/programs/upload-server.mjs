// A server in a process of its own that takes uploads, and says what it holds. It imports the built package by name. TMPDIR is
// its temporary folder, DIRECTORY where it keeps uploads on disk.
import { readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { bindRequest, dto, file, idempotency, list, optional, string } from 'bindonce';
import express from 'express';
import { held } from '../../../dist/body/kept-bytes.js';

const { DIRECTORY = tmpdir() } = process.env;

class Upload extends dto({ title: optional(string), photos: list(file) }) {}

/** Files of this process in its two folders, whether they have names or not. */
function openFiles() {
  return readdirSync('/proc/self/fd').flatMap(descriptor => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return [tmpdir(), DIRECTORY].some(folder => path.startsWith(`${folder}/`)) ? [path] : [];
    } catch {
      return [];
    }
  });
}

const app = express();
const ran = (_req, res) => res.end('ran');
const toDisk = { allowFormData: true, uploads: { storage: 'disk', directory: DIRECTORY } };
app.post('/guarded', idempotency(), ran);
app.post('/disk', bindRequest(Upload, toDisk), ran);
app.get('/state', (_req, res) => res.json({ open: openFiles(), held: held.weight }));

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
