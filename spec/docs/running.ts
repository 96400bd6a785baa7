import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { NodeProcess } from '../support/servers/node-process';
import type { Block } from './pages';

/** CommonJS that Node runs. */
export function compiled(source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
  }).outputText;
}

const listening =
  "const listening = app => { const server = app.listen(0, '127.0.0.1', () => { console.log(`http://127.0.0.1:${server.address().port}`); }); return app; };";

/**
 * Runs a snippet as it is, but for its port.
 * @param options.addresses other services that it calls, each with the address where it is instead.
 * @param options.asModule true to run it as an ES module, without compiling it.
 */
export async function whileRunning(
  snippet: Block | undefined,
  work: (url: string) => Promise<void>,
  {
    env,
    addresses = {},
    asModule = false,
  }: {
    readonly env?: Record<string, string>;
    readonly addresses?: Record<string, string>;
    readonly asModule?: boolean;
  } = {},
): Promise<void> {
  const directory = mkdtempSync(join(__dirname, 'run-'));
  try {
    let source = (snippet?.code ?? '').replace('app.listen(3000);', '').replace('express()', 'listening(express())');
    for (const [name, address] of Object.entries(addresses)) source = source.replaceAll(name, address);
    const script = join(directory, asModule ? 'snippet.mjs' : 'snippet.js');
    writeFileSync(script, `${listening}\n${asModule ? source : compiled(source)}`);
    const server = await NodeProcess.start(script, env);
    try {
      await work(server.url);
    } finally {
      await server.kill();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
