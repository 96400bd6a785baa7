import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProblemBody } from '../../lib';
import { multipart } from '../support/multipart';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';

const script = join(__dirname, '../support/programs/upload-server.mjs');
const form = multipart(
  [
    { name: 'title', value: 't' },
    { name: 'photos', filename: 'a.png', value: 'small' },
    { name: 'photos', filename: 'b.png', value: Buffer.alloc(6_000_000, 'x') },
  ],
  'b1',
);
const post = (url: string, path: string, framing: Record<string, string>): Promise<WireResponse> =>
  send(`${url}${path}`, {
    // Node resets a connection that is not kept alive when it has answered, also while the client sends.
    headers: { Connection: 'keep-alive', 'Idempotency-Key': String(Math.random()), ...form.headers, ...framing },
    body: form.body,
  });

const isRoot = process.getuid?.() === 0;

/** A folder for temporary files, and how it is taken away. */
function folder() {
  const path = mkdtempSync(join(tmpdir(), 'bindonce-spec-'));
  return { path, shell: ':', remove: () => rmSync(path, { recursive: true, force: true }) };
}
/** One on which the form does not fit: a file system in memory where we may mount one, or else a limit of a file's size. */
function full(): ReturnType<typeof folder> {
  const disk = folder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=0777', 'tmpfs', disk.path]).status === 0;
  // 2,000 blocks of 512 bytes.
  if (!mounted) return { ...disk, shell: 'ulimit -f 2000' };
  return { ...disk, remove: () => (spawnSync('umount', ['-l', disk.path]), disk.remove()) };
}
function missing(): ReturnType<typeof folder> {
  const disk = folder();
  return { ...disk, path: join(disk.path, 'missing') };
}
/** Root may write everywhere, but not where the system makes the files. */
function closed(): ReturnType<typeof folder> {
  const disk = folder();
  chmodSync(disk.path, 0o500);
  return isRoot ? { ...disk, path: '/proc/self' } : disk;
}

describe('a disk that is full', () => {
  let disk: ReturnType<typeof folder>;
  let server: NodeProcess;
  beforeAll(async () => {
    disk = full();
    server = await NodeProcess.start(script, { TMPDIR: disk.path, DIRECTORY: disk.path }, disk.shell);
  });
  afterAll(async () => {
    await server.kill();
    disk.remove();
  });

  it.each([
    ['a body is spooled by idempotency()', '/guarded', {}],
    ['files are uploaded to disk in chunks', '/disk', { 'Transfer-Encoding': 'chunked' }],
  ])('is a problem where %s; nothing is left, and the server goes on', async (_what, path, framing) => {
    for (let round = 0; round < 3; round++) {
      const answer = await post(server.url, path, framing);
      const problem = JSON.parse(answer.text) as ProblemBody;
      expect([answer.status, problem.status, problem.type]).toEqual([507, 507, 'urn:bindonce:storage-full']);
    }
    let state = { open: [''], held: -1 };
    while (state.open.length > 0 || readdirSync(disk.path).length > 0) {
      await pause(5);
      state = JSON.parse((await send(`${server.url}/state`, { method: 'GET' })).text) as typeof state;
    }
    expect(state.held).toBe(0);
    expect(server.output).toEqual([expect.stringContaining('listening')]);
  });
});

it.each<[string, typeof folder]>([
  ['is missing', missing],
  ['may not be written to', closed],
])('a temporary folder that %s is a 503 with Retry-After, and the server goes on', async (_title, make) => {
  const disk = make();
  const server = await NodeProcess.start(script, { TMPDIR: disk.path, DIRECTORY: tmpdir() });
  for (let round = 0; round < 3; round++) {
    const answer = await post(server.url, '/guarded', {});
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '10']);
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'urn:bindonce:storage-unavailable' });
  }
  await server.kill();
  disk.remove();
});
