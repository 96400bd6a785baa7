import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../..');

describe('the packed package', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bindonce-package-'));
  const consumer = join(directory, 'consumer');
  let files: string[];

  const run = (file: string, source: string): string => {
    writeFileSync(join(consumer, file), source);
    return execFileSync(process.execPath, [file], { cwd: consumer, encoding: 'utf8' }).trim();
  };

  beforeAll(() => {
    // Packed by npm as it would be published, and unpacked beside the dependencies that npm would install.
    const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], { cwd: root, encoding: 'utf8' })) as [{ filename: string; files: { path: string }[] }];
    files = packed.files.map(({ path }) => path);
    const modules = join(consumer, 'node_modules');
    mkdirSync(join(modules, 'bindonce'), { recursive: true });
    execFileSync('tar', ['-xzf', join(directory, packed.filename), '-C', join(modules, 'bindonce'), '--strip-components=1']);
    for (const name of readdirSync(join(root, 'node_modules'))) if (name !== 'bindonce') symlinkSync(join(root, 'node_modules', name), join(modules, name));
    writeFileSync(join(consumer, 'package.json'), '{}');
  });
  afterAll(() => { rmSync(directory, { recursive: true, force: true }); });

  it('holds the compiled library, its types and its documents, and nothing else', () => {
    expect(files.filter(file => !/^(dist|lib)\//.test(file)).sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json']);
    expect(files).toContain('dist/index.d.ts');
  });

  it('is imported by name from an ES module and required from CommonJS, as one and the same module', () => {
    const source = `
      import { createRequire } from 'node:module';
      import { bindRequest, configure, idempotency } from 'bindonce';
      const required = createRequire(import.meta.url)('bindonce');
      console.log(typeof idempotency, typeof bindRequest, typeof configure, required.idempotency === idempotency);`;
    expect(run('consumer.mjs', source)).toBe('function function function true');
    expect(run('consumer.cjs', 'console.log(Object.keys(require("bindonce")).includes("idempotency"))')).toBe('true');
  });

  it('does not load @keyv/redis, which is optional', () => {
    expect(run('optional.cjs', 'require("bindonce"); console.log(Object.keys(require.cache).some(file => file.includes("@keyv/redis") || file.includes("@redis")))')).toBe('false');
  });

  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext', file: 'types.mts' },
    { module: 'nodenext', moduleResolution: 'nodenext', file: 'types.cts' },
    { module: 'esnext', moduleResolution: 'bundler', file: 'types.ts' },
  ])('has types for $file under moduleResolution $moduleResolution', ({ module, moduleResolution, file }) => {
    const source = `
      import { bindRequest, dto, idempotency, int, routeParam, string } from 'bindonce';
      import express from 'express';
      class Rename extends dto({ id: routeParam(int), name: string }) {}
      express().put('/things/:id', idempotency(), bindRequest(Rename), (req, res) => {
        const id: number = req.dto.id;
        res.json({ id, name: req.dto.name.trim(), key: req.idempotency.key });
      });`;
    writeFileSync(join(consumer, file), source);
    // Without skipLibCheck: our declarations must stand by themselves.
    const args = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--module', module, '--moduleResolution', moduleResolution, '--esModuleInterop', '--types', 'node', file];
    expect(() => execFileSync(process.execPath, args, { cwd: consumer, encoding: 'utf8', stdio: 'pipe' })).not.toThrow();
  });
});

it('records no download address in the lock file', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved": "http');
});
