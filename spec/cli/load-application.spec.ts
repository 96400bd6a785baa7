import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

describe('bindonce openapi finds the application', () => {
  /** A folder in the repository, where modules find packages by their names. */
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(root, 'spec/support/run-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  /** Describes a CommonJS module that has an application, and other code. */
  function describeModule(code: string) {
    const path = join(folder, 'app.cjs');
    const start = `const { bindRequest, dto, int } = require('bindonce');
      const express = require('express');
      const app = express();
      app.post('/orders', bindRequest(dto({ a: int })));
    `;
    writeFileSync(path, start + code);
    const command = [join(root, 'dist/cli/bindonce.js'), 'openapi', path];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 60_000 });
    return { path, status, stdout, stderr };
  }

  /** What TypeScript writes at the beginning of an ES module that it compiles to CommonJS. */
  const COMPILED = "Object.defineProperty(exports, '__esModule', { value: true });";

  it.each([
    ['as app', 'exports.app = app;'],
    ['as the default export of a compiled module', `${COMPILED} exports.default = app;`],
    ['as app in the default export of a compiled module', `${COMPILED} exports.default = { app };`],
    ['returned from all that is exported', 'module.exports = () => app;'],
    ['returned from the default export of a compiled module', `${COMPILED} exports.default = async () => app;`],
    ['returned from createApp, in time', 'exports.createApp = async (options = {}) => app;'],
  ])('of a CommonJS module: %s', (_how, code) => {
    const { status, stdout, stderr } = describeModule(code);
    expect([status, stderr]).toEqual([0, '']);
    expect(Object.keys((JSON.parse(stdout) as { paths: object }).paths)).toEqual(['/orders']);
  });

  it.each([
    ['a function with a parameter', 'exports.createApp = config => app;'],
    ['a class', 'exports.createApp = class {};'],
    ['a function of another name, which may do anything', 'exports.resetApp = () => app;'],
    ['a default export without one', `${COMPILED} exports.default = null;`],
  ])('or says how to export it: %s', (_what, code) => {
    const { path, status, stderr } = describeModule(code);
    expect([status, stderr]).toEqual([
      2,
      `bindonce: ${path} exports no Express application. Export it as \`app\` or by default, or export a function ` +
        'without parameters that returns it, as `createApp` or by default.\n',
    ]);
  });
});
