/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/spec'],
  testMatch: ['**/*.spec.ts'],
  globalSetup: '<rootDir>/spec/servers/install-redis.ts',
  // Types are checked by `npm run typecheck`; here they are only taken off.
  transform: {
    '/spec/legacy-decorators/.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/spec/legacy-decorators/tsconfig.json', diagnostics: false }],
    '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/spec/tsconfig.json', diagnostics: false }],
  },
  testTimeout: 30_000,
  maxWorkers: 2,
};
