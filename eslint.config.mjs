import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', 'node_modules/'] },
  {
    files: ['lib/**/*.ts', 'demo-app/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: ['tsconfig.json', 'demo-app/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      // `import x = require()` is how a CommonJS package that exports one class is imported for every consumer's settings.
      '@typescript-eslint/no-require-imports': ['error', { allowAsImport: true }],
      eqeqeq: 'error',
      'no-restricted-imports': ['error', { patterns: ['*/lib/index', '**/index'] }],
    },
  },
  {
    files: ['spec/**/*.ts'],
    extends: [tseslint.configs.recommended],
    rules: { '@typescript-eslint/no-explicit-any': 'error' },
  },
);
