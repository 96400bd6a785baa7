/** Types are checked by `npm run typecheck`; here they are only taken off. */
const compiledWith = tsconfig => ({
  transform: {
    '^.+\\.ts$': ['ts-jest', { tsconfig, diagnostics: false }],
    // Published as ES modules only, which jest cannot load on Node 20.
    '/node_modules/(arktype|@ark|arkregex)/.+\\.js$': [
      'ts-jest',
      { tsconfig: { allowJs: true, module: 'commonjs', target: 'es2022' }, diagnostics: false, isolatedModules: true },
    ],
  },
  // lib/client is an ES module for browsers, too, and so names its files as they are published.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
  transformIgnorePatterns: ['/node_modules/(?!(arktype|@ark|arkregex)/)'],
  testEnvironment: 'node',
});

const compiled = compiledWith('<rootDir>/spec/tsconfig.json');

/** What takes long, needs many servers at once, or the registry: `npm run test:long`. */
const long = [
  'spec/binding/types/scalar-long-texts.spec.ts',
  'spec/faults/mutations.spec.ts',
  'spec/faults/storms.spec.ts',
  'spec/idempotency/acceptance/bounds.spec.ts',
  'spec/idempotency/leases/memory-leases-search.spec.ts',
  'spec/idempotency/postgres/leases-search.spec.ts',
  'spec/idempotency/redis/deployments/cluster.spec.ts',
  'spec/idempotency/redis/deployments/sentinel.spec.ts',
  'spec/matrix/matrix.spec.ts',
  'spec/testing/mistakes.spec.ts',
];

/** @type {import('jest').Config} */
module.exports = {
  globalSetup: '<rootDir>/spec/support/servers/install.ts',
  transform: compiled.transform,
  testTimeout: 120_000,
  projects: [
    {
      ...compiled,
      displayName: 'spec',
      testMatch: ['<rootDir>/spec/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '/legacy-decorators/', ...long],
    },
    // A project of its own, because ts-jest has one set of compiler options for each: decorators are standard or legacy.
    {
      ...compiledWith('<rootDir>/spec/legacy-decorators/tsconfig.json'),
      displayName: 'legacy decorators',
      testMatch: ['<rootDir>/spec/legacy-decorators/**/*.spec.ts'],
    },
    // The specs of binding once more, with the code that `npx bindonce generate` writes.
    {
      ...compiled,
      displayName: 'generated',
      testMatch: ['<rootDir>/spec/binding/**/*.spec.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        ...long,
        'spec/binding/reading/compile.spec.ts',
        'spec/binding/types/generated-contexts.spec.ts',
      ],
      setupFilesAfterEnv: ['<rootDir>/spec/support/generated-contexts.ts'],
    },
    { ...compiled, displayName: 'long', testMatch: long.map(spec => `<rootDir>/${spec}`) },
  ],
};
