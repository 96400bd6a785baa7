import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { send } from '../servers/listen';
import { NodeProcess } from '../servers/node-process';
import { declarations, operations, programOf } from './notations';
import { tableFor } from './tables';

const root = join(__dirname, '../..');
const file = join(root, 'README.md');
const readme = readFileSync(file, 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(
  ([, language = '', info = '', code = '']) => ({ language, info: info.trim(), code }),
);
const snippets = blocks.filter(({ language }) => language === 'ts');

describe('the tables of the README', () => {
  const tables = [...readme.matchAll(/^<!-- ([^>]+) -->\n\n?((?:\|.*\n)*)/gm)].map(([, marker = '', table = '']) => ({
    marker,
    table: table.trim(),
  }));

  it('are there', () => {
    expect(tables.length).toBeGreaterThanOrEqual(4);
  });

  it.each(tables)('say what the code says: $marker', ({ marker, table }) => {
    const made = tableFor(marker);
    // `UPDATE=1 npx jest spec/readme` writes them anew.
    if (process.env['UPDATE'])
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(
          new RegExp(`(<!-- ${marker} -->)\\n\\n?((?:\\|.*\\n)*)`),
          (_, comment: string) => `${comment}\n\n${made}\n${table === '' ? '\n' : ''}`,
        ),
      );
    else expect(table).toBe(made);
  });
});

describe('the snippets of the README', () => {
  it('compile against the package, as CommonJS and as ES modules, and so does every row of the tables of both notations', () => {
    expect(mistakesIn([...snippets.map(({ code }) => code), programOf(readme)])).toEqual([]);
  });

  it('run as they stand: the order of the first one is placed once', async () => {
    const [snippet] = snippets.filter(({ info }) => info === 'run');
    const directory = mkdtempSync(join(root, 'spec/readme/run-'));
    try {
      const source = (snippet?.code ?? '').replace(
        'app.listen(3000);',
        "const server = app.listen(0, '127.0.0.1', () => { console.log(`http://127.0.0.1:${server.address().port}`); });",
      );
      const script = join(directory, 'snippet.js');
      writeFileSync(
        script,
        ts.transpileModule(source, {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
        }).outputText,
      );
      const shop = await NodeProcess.start(script);
      const [, path = '', key = '', body = ''] =
        /localhost:3000(\S+) -H 'Idempotency-Key: (\S+)' .* -d '(.*)'/.exec(readme) ?? [];
      const order = () =>
        send(`${shop.url}${path}`, { headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' }, body });
      const [first, again] = [await order(), await order()];
      expect(first.status).toBe(201);
      expect(again.text).toBe(first.text);
      expect(again.headers['idempotent-replayed']).toBe('true');
      await shop.kill();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it.each([
    [
      'prometheus',
      "const { register } = require('prom-client');",
      'console.log(await register.metrics());',
      /idempotency_seconds_count\{outcome="executed"\} 1\n[^]*idempotency_seconds_count\{outcome="replayed"\} 1\n/,
    ],
    [
      'opentelemetry',
      `
      const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
      const exporter = new InMemorySpanExporter();
      require('@opentelemetry/api').trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));`,
      'for (const { name, attributes, duration } of exporter.getFinishedSpans()) console.log(name, attributes["http.response.status_code"], duration[0] === 0 && duration[1] > 0);',
      /^idempotency executed 201 true\nidempotency replayed 201 true\n$/,
    ],
  ])('measure as they say: %s', (name, before, report, expected) => {
    const directory = mkdtempSync(join(root, 'spec/readme/run-'));
    try {
      const [snippet] = snippets.filter(({ info }) => info === name);
      const script = join(directory, 'snippet.js');
      const program = `${before}
        const { idempotency } = require('./recipe.js');
        const app = require('express')().post('/', idempotency(), (_req, res) => { res.sendStatus(201); });
        const server = app.listen(0, '127.0.0.1', async () => {
          for (let time = 0; time < 2; time++) await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', headers: { 'Idempotency-Key': 'k' } });
          ${report}
          process.exit();
        });`;
      writeFileSync(script, program);
      writeFileSync(
        join(directory, 'recipe.js'),
        ts.transpileModule(snippet?.code ?? '', {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
        }).outputText,
      );
      expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toMatch(expected);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('shows a failure as it is answered', () => {
    const [example] = blocks.filter(({ language }) => language === 'json');
    expect(Object.keys(JSON.parse(example?.code ?? '{}') as object)).toEqual([
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'errors',
    ]);
  });
});

describe('the tables of both notations', () => {
  it('are there', () => {
    expect([declarations(readme).length >= 25, operations(readme).length >= 15]).toEqual([true, true]);
  });

  it('work as they stand, when middlewares are made and values are read', () => {
    const directory = mkdtempSync(join(root, 'spec/readme/run-'));
    try {
      const script = join(directory, 'notations.js');
      writeFileSync(
        script,
        ts.transpileModule(programOf(readme), {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
        }).outputText,
      );
      execFileSync(process.execPath, [script], { stdio: 'pipe' });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

/** What the compiler says about programs that use the package. */
function mistakesIn(programs: readonly string[]): string[] {
  const sources = new Map(
    programs.flatMap((source, index) =>
      ['cts', 'mts'].map(kind => [join(root, 'spec/readme', `snippet-${index}.${kind}`), source]),
    ),
  );
  const { config } = ts.readConfigFile(join(root, 'spec/tsconfig.json'), path => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.parseJsonConfigFileContent(
    {
      extends: './tsconfig.json',
      compilerOptions: { ...config.compilerOptions, noUnusedLocals: false, noUnusedParameters: false },
    },
    ts.sys,
    join(root, 'spec'),
  );
  const host = ts.createCompilerHost(options);
  const readSource = host.getSourceFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.fileExists = name => sources.has(name) || fileExists(name);
  host.getSourceFile = (name, target) => {
    const source = sources.get(name);
    return source === undefined ? readSource(name, target) : ts.createSourceFile(name, source, target);
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([...sources.keys()], options, host));
  return diagnostics.map(
    ({ file: at, messageText }) => `${at?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}
