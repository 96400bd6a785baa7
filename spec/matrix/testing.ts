import type { Project } from './project';

const suites = (imports: string, options: string): string => `
${imports}
import { memoryLeases } from 'bindonce';
import { leaseStoreContract } from 'bindonce/testing';
leaseStoreContract('memoryLeases()', () => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
}${options});
`;
const onGlobals = suites('', '');
const on = (name: string): string => suites(`import * as runner from '${name}';`, ', { runner }');

/** The suites of `bindonce/testing` in the test runners that they are made for. */
export const testing: Project = {
  area: 'tools',
  name: 'bindonce/testing in node:test, jest, vitest and mocha',
  manager: 'npm',
  node: '24',
  packages: { express: '5', jest: '30', vitest: '5', mocha: '11' },
  files: {
    'node.test.mjs': on('node:test'),
    'vitest.test.mjs': on('vitest'),
    'globals.test.mjs': onGlobals,
    'globals.test.cjs': onGlobals.replaceAll(/^import (.*) from (.*);$/gm, 'const $1 = require($2);'),
    'jest.config.cjs': "module.exports = { testMatch: ['**/globals.test.cjs'] };\n",
  },
  cells: [
    ...(['20', '24'] as const).map(node => ({
      name: 'node:test',
      node,
      command: ['node', '--test', '--test-reporter=tap', 'node.test.mjs'] as const,
      prints: /^# fail 0$/m,
    })),
    { name: 'jest', command: ['jest'], prints: /Tests: +\d{2} passed, \d{2} total/ },
    { name: 'vitest', command: ['vitest', 'run', 'vitest.test.mjs'], prints: /Tests +\d{2} passed/ },
    {
      name: 'vitest with globals',
      command: ['vitest', 'run', '--globals', 'globals.test.mjs'],
      prints: /Tests +\d{2} passed/,
    },
    { name: 'mocha', command: ['mocha', 'globals.test.cjs'], prints: /\d{2} passing/ },
    { name: 'mocha, as an ES module', command: ['mocha', 'globals.test.mjs'], prints: /\d{2} passing/ },
  ],
};
