import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { send } from '../servers/listen';
import { NodeProcess } from '../servers/node-process';
import { tableFor } from './tables';

const root = join(__dirname, '../..');
const file = join(root, 'README.md');
const readme = readFileSync(file, 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, language = '', info = '', code = '']) => ({ language, info: info.trim(), code }));
const snippets = blocks.filter(({ language }) => language === 'ts');

describe('the tables of the README', () => {
  const tables = [...readme.matchAll(/^<!-- ([^>]+) -->\n\n?((?:\|.*\n)*)/gm)].map(([, marker = '', table = '']) => ({ marker, table: table.trim() }));

  it('are there', () => {
    expect(tables.length).toBeGreaterThanOrEqual(4);
  });

  it.each(tables)('say what the code says: $marker', ({ marker, table }) => {
    const made = tableFor(marker);
    // `UPDATE=1 npx jest spec/readme` writes them anew.
    if (process.env['UPDATE']) writeFileSync(file, readFileSync(file, 'utf8').replace(new RegExp(`(<!-- ${marker} -->)\\n\\n?((?:\\|.*\\n)*)`), (_, comment: string) => `${comment}\n\n${made}\n${table === '' ? '\n' : ''}`));
    else expect(table).toBe(made);
  });
});

describe('the snippets of the README', () => {
  it('compile against the package', () => {
    const names = snippets.map((_, index) => join(root, 'spec/readme', `snippet-${index}.ts`));
    const { config } = ts.readConfigFile(join(root, 'spec/tsconfig.json'), path => ts.sys.readFile(path)) as { config: { compilerOptions: object } };
    const { options } = ts.parseJsonConfigFileContent({ extends: './tsconfig.json', compilerOptions: { ...config.compilerOptions, noUnusedLocals: false } }, ts.sys, join(root, 'spec'));
    const host = ts.createCompilerHost(options);
    const readSource = host.getSourceFile.bind(host);
    const fileExists = host.fileExists.bind(host);
    host.fileExists = name => names.includes(name) || fileExists(name);
    host.getSourceFile = (name, target) => {
      const snippet = snippets[names.indexOf(name)];
      return snippet ? ts.createSourceFile(name, snippet.code, target) : readSource(name, target);
    };
    const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(names, options, host));
    expect(diagnostics.map(({ file: at, messageText }) => `${at?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([]);
  });

  it('run as they stand: the order of the first one is placed once', async () => {
    const [snippet] = snippets.filter(({ info }) => info === 'run');
    const directory = mkdtempSync(join(root, 'spec/readme/run-'));
    try {
      const source = (snippet?.code ?? '').replace('app.listen(3000);', "const server = app.listen(0, '127.0.0.1', () => { console.log(`http://127.0.0.1:${server.address().port}`); });");
      const script = join(directory, 'snippet.js');
      writeFileSync(script, ts.transpileModule(source, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true } }).outputText);
      const shop = await NodeProcess.start(script);
      const [, path = '', key = '', body = ''] = /localhost:3000(\S+) -H 'Idempotency-Key: (\S+)' .* -d '(.*)'/.exec(readme) ?? [];
      const order = () => send(`${shop.url}${path}`, { headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' }, body });
      const [first, again] = [await order(), await order()];
      expect(first.status).toBe(201);
      expect(again.text).toBe(first.text);
      expect(again.headers['idempotent-replayed']).toBe('true');
      await shop.kill();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('shows a failure as it is answered', () => {
    const [example] = blocks.filter(({ language }) => language === 'json');
    expect(Object.keys(JSON.parse(example?.code ?? '{}') as object)).toEqual(['type', 'title', 'status', 'detail', 'instance', 'errors']);
  });
});
