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
  transformIgnorePatterns: ['/node_modules/(?!(arktype|@ark|arkregex)/)'],
  testEnvironment: 'node',
  testMatch: ['**/*.spec.ts'],
});

/** @type {import('jest').Config} */
module.exports = {
  globalSetup: '<rootDir>/spec/servers/install.ts',
  transform: compiledWith('<rootDir>/spec/tsconfig.json').transform,
  testTimeout: 120_000,
  maxWorkers: 2,
  // Two projects, because ts-jest has one set of compiler options for each: decorators are either standard or legacy.
  projects: [
    {
      ...compiledWith('<rootDir>/spec/tsconfig.json'),
      displayName: 'spec',
      roots: ['<rootDir>/spec'],
      testPathIgnorePatterns: ['/node_modules/', '/legacy-decorators/'],
    },
    {
      ...compiledWith('<rootDir>/spec/legacy-decorators/tsconfig.json'),
      displayName: 'legacy decorators',
      roots: ['<rootDir>/spec/legacy-decorators'],
    },
  ],
};
