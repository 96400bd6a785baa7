import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mistakesIn } from '../support/compile';

const root = join(__dirname, '../..');

/** The names of the values that each entry exports; those of types are in spec/types/public-api.ts. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  bindonce: [
    ...['BOUND', 'BigNumber', 'Problem', 'RequestBinder', 'Version'],
    ...['apiDocs', 'bindRequest', 'configure', 'idempotency', 'openapi', 'operate', 'problemDetails'],
    ...['cookieValue', 'headerValue', 'queryValue', 'routeValue'],
    ...['memoryLeases', 'postgresLeases', 'postgresStore', 'redisLeases', 'sqliteStore'],
    ...['fromDrizzle', 'fromKnex', 'fromKysely', 'fromPg', 'fromPostgresJs', 'fromPrisma', 'fromTypeOrm'],
    ...['dto', 'field', 'formField', 'fromBody', 'fromClaim', 'fromCookie', 'fromForm', 'fromHeader', 'fromQuery'],
    ...['hasPermission', 'jsonField', 'plainText', 'queryParam', 'routeParam'],
    ...[
      'bool',
      'date',
      'dateTime',
      'decimal',
      'double',
      'file',
      'guid',
      'int',
      'long',
      'string',
      'time',
      'timeSpan',
      'uri',
    ],
    ...['enumOf', 'lazy', 'list', 'nullable', 'oneOf', 'optional', 'record', 'version'],
    ...['omit', 'partial', 'pick'],
    ...['generatedContexts', 'serializerContext', 'valueParserFor'],
  ],
  'bindonce/client': ['IdempotentFetchError', 'idempotentFetch'],
  'bindonce/testing': ['leaseStoreContract', 'storeContract'],
};

function printed(kind: 'commonjs' | 'module', program: string): unknown {
  const args = [`--input-type=${kind}`, '--eval', program];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }));
}

describe.each(Object.entries(VALUES))('%s exports its values by name, and no others', (entry, names) => {
  it('to require()', () => {
    const program = `console.log(JSON.stringify(Object.keys(require('${entry}'))))`;
    expect((printed('commonjs', program) as string[]).sort()).toEqual([...names].sort());
  });

  it('to import', () => {
    const values = names.map(name => `typeof ${name} === 'undefined' ? '${name}' : []`);
    const program = `import { ${names.join(', ')} } from '${entry}'; console.log(JSON.stringify([${values.join()}].flat()))`;
    expect(printed('module', program)).toEqual([]);
  });
});

it('BOUND is one symbol to all copies of the package', () => {
  const program = `
    import { createRequire } from 'node:module';
    import { BOUND } from 'bindonce';
    const required = createRequire(process.cwd() + '/x.js')('bindonce').BOUND;
    console.log(JSON.stringify([typeof BOUND, BOUND === required, Symbol.keyFor(BOUND)]));`;
  expect(printed('module', program)).toEqual(['symbol', true, 'bindonce.bound']);
});

it.each(['nodenext', 'preserve'])(
  'all names are published, and can be written under verbatimModuleSyntax: %s',
  module => {
    const api = readFileSync(join(root, 'spec/types/public-api.ts'), 'utf8')
      .replace(/'\.\.\/\.\.\/lib(\/\w+)?'/g, "'bindonce$1'")
      .replace("'./equal'", "'./equal.mjs'");
    const equal = readFileSync(join(root, 'spec/types/equal.ts'), 'utf8');
    const compilerOptions = {
      ...{ module, target: 'es2022', lib: ['es2023', 'dom', 'esnext.decorators'], types: ['node', 'multer'] },
      ...{ strict: true, verbatimModuleSyntax: true, exactOptionalPropertyTypes: true },
    };
    expect(mistakesIn({ 'api.mts': api, 'equal.mts': equal }, { compilerOptions })).toEqual([]);
  },
);
