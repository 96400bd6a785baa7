/** Types are checked by `npm run typecheck`; here they are only taken off. */
const compiledWith = tsconfig => ({
  transform: {
    '^.+\\.ts$': ['ts-jest', { tsconfig, diagnostics: false }],
    // Published as ES modules only (or what they need is), which jest cannot load on Node 20.
    '/node_modules/(arktype|@ark|arkregex|light-my-request)/.+\\.js$': [
      'ts-jest',
      { tsconfig: { allowJs: true, module: 'commonjs', target: 'es2022' }, diagnostics: false, isolatedModules: true },
    ],
  },
  // lib/client is an ES module for browsers, too, and so names its files as they are published.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
  transformIgnorePatterns: ['^(?!.*/node_modules/(arktype|@ark|arkregex|light-my-request)/).*/node_modules/'],
  testEnvironment: 'node',
  // Timers of a store outlive the spec that made it, and would find its members gone.
  testEnvironmentOptions: { globalsCleanup: 'off' },
});

const compiled = compiledWith('<rootDir>/spec/tsconfig.json');

/**
 * Files and folders of `npm run test:long`: what is around the library (command, demo, documents, package), what needs a
 * browser, many servers at once or the registry, and what takes long.
 */
const long = [
  'spec/cli',
  'spec/client/interleavings.spec.ts',
  'spec/client/tabs.spec.ts',
  'spec/demo-app',
  'spec/docs/examples',
  'spec/docs/lease-store.spec.ts',
  'spec/docs/recipes.spec.ts',
  'spec/docs/snippets.spec.ts',
  'spec/openapi/api-docs.spec.ts',
  'spec/openapi/openapi-generators.spec.ts',
  'spec/openapi/openapi-random.spec.ts',
  'spec/package/declarations.spec.ts',
  'spec/package/exports.spec.ts',
  'spec/binding/acceptance/hostile.spec.ts',
  'spec/binding/random/malformed.spec.ts',
  'spec/processes/demo-app.spec.ts',
  'spec/processes/demo-document.spec.ts',
  'spec/faults/storms.spec.ts',
  'spec/idempotency/acceptance/bounds.spec.ts',
  'spec/idempotency/acceptance/store-outages.spec.ts',
  'spec/idempotency/operate/operate-page.spec.ts',
  'spec/idempotency/stores/postgres/store.spec.ts',
  'spec/idempotency/stores/redis/client.spec.ts',
  'spec/idempotency/stores/redis/leases-deployments.spec.ts',
  'spec/idempotency/stores/memory-responses.spec.ts',
  'spec/idempotency/stores/sqlite',
  'spec/idempotency/stores/transactions.spec.ts',
  'spec/idempotency/run/publish.spec.ts',
  'spec/matrix/matrix.spec.ts',
  'spec/testing/mistakes.spec.ts',
];

/** A folder is not the file of the same name: `spec/cli/` is not `spec/client`. */
const ignored = long.map(path => (path.endsWith('.ts') ? path : `${path}/`));

/** @type {import('jest').Config} */
module.exports = {
  globalSetup: '<rootDir>/spec/support/servers/install.ts',
  transform: compiled.transform,
  testTimeout: 120_000,
  testSequencer: '<rootDir>/spec/support/storms-last.js',
  projects: [
    {
      ...compiled,
      displayName: 'spec',
      testMatch: ['<rootDir>/spec/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '/legacy-decorators/', ...ignored],
    },
    // A project of its own, because ts-jest has one set of compiler options for each: decorators are standard or legacy.
    {
      ...compiledWith('<rootDir>/spec/legacy-decorators/tsconfig.json'),
      displayName: 'legacy decorators',
      testMatch: ['<rootDir>/spec/legacy-decorators/**/*.spec.ts'],
    },
    {
      ...compiled,
      displayName: 'long',
      testMatch: long.map(path => `<rootDir>/${path}${path.endsWith('.ts') ? '' : '/**/*.spec.ts'}`),
    },
  ],
};
