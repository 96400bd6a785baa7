/** One server of the benchmark: `node server.mjs <subject>`. Its parent asks for its CPU time and memory by messages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import KeyvRedis from '@keyv/redis';
import { bindRequest, dto, file, idempotency, list } from 'bindonce';
import express from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';

const GIB = 1_073_741_824;
const folder = mkdtempSync(join(tmpdir(), 'bindonce-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

class Upload extends dto({ files: list(file) }) {}
const limits = { fileBytes: 2 * GIB, formBytes: 2 * GIB };
const bind = bindRequest(Upload, {
  allowFormData: true,
  uploads: { storage: 'disk', directory: folder },
  limits,
});
const guard = idempotency({ maxRequestBytes: 2 * GIB, waitTimeout: 60_000 });
const sizeOf = files => ({ size: files.reduce((sum, { size }) => sum + size, 0) });

/** Pieces of a long response, which are made as they are read. */
function* pieces(bytes) {
  const piece = Buffer.alloc(65_536, 'x');
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

const ok = (_req, res) => void res.status(201).json({ id: 1 });
const bound = (req, res) => void res.json(sizeOf(req.dto.files));
const stream = (req, res) => pipeline(Readable.from(pieces(Number(req.query.bytes))), res);

const subjects = {
  'multer alone': app => app.post('/', multer({ dest: folder }).any(), (req, res) => res.json(sizeOf(req.files))),
  'bindRequest()': app => app.post('/', bind, bound),
  'idempotency() and bindRequest()': app => app.post('/', guard, bind, bound),
  'a bare stream': app => app.post('/', stream),
  'a stream behind idempotency()': app => app.post('/', guard, stream),
  'in memory': app => app.post('/', guard, ok),
  'on Redis': app => app.post('/', idempotency({ store: new Keyv(new KeyvRedis(process.env.REDIS_URL)) }), ok),
};

const app = subjects[process.argv[2]](express());
const server = app.listen(0, '127.0.0.1', 65_535, () => process.send({ port: server.address().port }));
Object.assign(server, { keepAliveTimeout: 600_000, requestTimeout: 0 });

let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 20).unref();

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ micros: user + system, peak: Math.max(peak, process.memoryUsage.rss()) });
  peak = 0;
});
process.on('disconnect', () => process.exit());
