/** A process that answers the calls of a lease store in the file that it is given. */
const { readFileSync } = require('node:fs');
const { Database } = require('node-sqlite3-wasm');
const ts = require('typescript');

require.extensions['.ts'] = (module, file) => {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  module._compile(ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions }).outputText, file);
};
const { SqliteLeases } = require('./sqlite-leases.ts');

const database = new Database(process.argv[2]);
database.exec('PRAGMA synchronous = OFF');
const leases = new SqliteLeases(database);
process.on('message', async ({ id, method, args }) => {
  process.send({ id, answer: await leases[method](...args) });
});
process.on('disconnect', () => {
  database.close();
});
