import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { mistakesIn } from '../support/compile';
import { send, type WireResponse } from '../support/listen';
import { PostgresServer } from '../support/servers/postgres-server';
import { TemporaryDirectory } from '../support/temporary-directory';
import { declarations, notationsIn, operations, programOf, programsIn } from './notations';
import { blocksOf, pageOf, pagesIn, snippetsIn } from './pages';
import { compiled, whileRunning } from './running';

const root = join(__dirname, '../..');
const readme = pageOf(root, 'README.md');
const snippets = snippetsIn(pagesIn(root));

it('every snippet compiles against the package, as CommonJS and as an ES module, and so does every row of the tables of both notations', () => {
  expect(snippets.length).toBeGreaterThan(20);
  const programs = programsIn(root).flatMap((source, index) =>
    ['cts', 'mts'].map(kind => [`snippet-${index}.${kind}`, source] as const),
  );
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  };
  expect(mistakesIn(Object.fromEntries(programs), config)).toEqual([]);
}, 300_000);

describe('the snippets of the README that are marked `run`', () => {
  const all = blocksOf(readme);
  const cases = all.flatMap((snippet, index) => {
    const [, command = '', answer = ''] = /^\$ (curl [^\n]*)\n(.*)\n$/s.exec(all[index + 1]?.code ?? '') ?? [];
    return snippet.info === 'run' ? [{ command, answer, snippet }] : [];
  });

  it.each(cases)('answer as ES modules as it says: $command', async ({ command, answer, snippet }) => {
    const work = async (url: string): Promise<void> => {
      const ask = () => curl(command, url);
      const [first, again] = [await ask(), await ask()];
      expect(JSON.parse(withoutIds(first.text))).toEqual(JSON.parse(withoutIds(answer)));
      expect(again.text).toBe(first.text);
      expect(again.headers['idempotent-replayed']).toBe(command.includes('Idempotency-Key') ? 'true' : undefined);
    };
    await whileRunning(snippet, work, { asModule: true });
  });

  it("the first of them refuses the same key with another body, because it sets `whenKeyReused: 'reject'`, and no key", async () => {
    const work = async (url: string): Promise<void> => {
      const pay = (headers: Record<string, string>, body: string) => send(`${url}/payments`, { headers, body });
      const key = { 'Idempotency-Key': 'k' };
      const answers = [await pay(key, 'one'), await pay(key, 'other'), await pay({}, 'one')];
      expect(answers.map(({ status }) => status)).toEqual([201, 422, 400]);
    };
    await whileRunning(cases[0]?.snippet, work, { asModule: true });
  });

  it('the second of them binds a request without mistakes', async () => {
    const work = async (url: string): Promise<void> => {
      const lines = [{ sku: 'tea', quantity: 2 }];
      const headers = { 'Content-Type': 'application/json' };
      const { status, text } = await send(`${url}/customers/42/orders`, { headers, body: JSON.stringify({ lines }) });
      expect([status, JSON.parse(text)]).toEqual([201, { customerId: 42, lines }]);
    };
    await whileRunning(cases[1]?.snippet, work, { asModule: true });
  });
});

it('the order of the README that is marked `exactly-once` is placed once, and replayed', async () => {
  const database = await PostgresServer.start();
  try {
    const tables = new Client({ connectionString: database.url });
    await tables.connect();
    await tables.query('CREATE TABLE orders (id serial PRIMARY KEY, quantity int NOT NULL)');
    await tables.end();
    const snippet = snippets.find(({ info }) => info === 'exactly-once');
    const work = async (url: string): Promise<void> => {
      const order = { headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' }, body: '{"quantity":2}' };
      const answers = [await send(`${url}/orders`, order), await send(`${url}/orders`, order)];
      expect(answers.map(({ status, text }) => [status, text])).toEqual([
        [201, '{"id":1}'],
        [201, '{"id":1}'],
      ]);
    };
    await whileRunning(snippet, work, { env: { DATABASE_URL: database.url } });
  } finally {
    await database.stop();
  }
});

it('a failure is answered as docs/errors.md shows it', async () => {
  const [example] = blocksOf(pageOf(root, 'docs/errors.md')).filter(({ language }) => language === 'json');
  const binding = snippets.filter(({ info }) => info === 'run').at(-1);
  await whileRunning(binding, async url => {
    const { status, text } = await send(`${url}/customers/42/orders`, {
      headers: { 'Content-Type': 'application/json' },
      body: '{"lines":[{"sku":"tea","quantity":0}]}',
    });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual(JSON.parse(example?.code ?? ''));
  });
});

/** Runs a program to its end, beside other files. @returns what it prints. */
function printed(files: Readonly<Record<string, string>>): string {
  const directory = new TemporaryDirectory(__dirname);
  try {
    const scripts = Object.entries(files).map(([name, code]) => {
      writeFileSync(join(directory.path, name), code);
      return join(directory.path, name);
    });
    return execFileSync(process.execPath, scripts.slice(-1), { encoding: 'utf8', stdio: 'pipe' });
  } finally {
    directory.remove();
  }
}

it('the snippet about metrics measures as it says', () => {
  const snippet = snippets.find(({ info }) => info === 'prometheus');
  const program = `
    const { register } = require('prom-client');
    const { idempotency } = require('./recipe.js');
    const app = require('express')().post('/', idempotency(), (_req, res) => { res.sendStatus(201); });
    const server = app.listen(0, '127.0.0.1', async () => {
      for (let time = 0; time < 2; time++) await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', headers: { 'Idempotency-Key': 'k' } });
      console.log(await register.metrics());
      process.exit();
    });`;
  expect(printed({ 'recipe.js': compiled(snippet?.code ?? ''), 'program.js': program })).toMatch(
    /idempotency_seconds_count\{outcome="executed"\} 1\n[^]*idempotency_seconds_count\{outcome="replayed"\} 1\n/,
  );
});

it('the tables of both notations are there, and work as they stand, when middlewares are made and values are read', () => {
  const page = notationsIn(root);
  expect([declarations(page).length >= 25, operations(page).length >= 15]).toEqual([true, true]);
  printed({ 'notations.js': compiled(programOf(page)) });
});

/** Sends what a command line of curl would send. */
function curl(command: string, url: string): Promise<WireResponse> {
  const [, path = ''] = /localhost:3000([^\s']*)/.exec(command) ?? [];
  const headers = Object.fromEntries(
    [...command.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const [, body] = /-d '([^']*)'/.exec(command) ?? [];
  const isPost = body !== undefined || command.includes('-X POST');
  return send(url + path, { method: isPost ? 'POST' : 'GET', headers, ...(body !== undefined && { body }) });
}

/** A text whose random ids are the same, also those that are shown as their first digits and an ellipsis. */
const withoutIds = (text: string): string => text.replace(/[0-9a-f]{8}-(?:…|[0-9a-f-]{27})/g, 'id');
