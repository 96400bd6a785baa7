import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', 'node_modules/'] },
  {
    files: ['lib/**/*.ts', 'demo-app/**/*.ts', 'docs/examples/**/*.{ts,mts}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'demo-app/tsconfig.json', 'docs/examples/tsconfig.json'] },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      // `import x = require()` is how a CommonJS package that exports one class is imported for every consumer's settings.
      '@typescript-eslint/no-require-imports': ['error', { allowAsImport: true }],
      eqeqeq: 'error',
      'max-len': ['error', { code: 120 }],
      'no-restricted-imports': ['error', { patterns: ['*/lib/index', '**/index'] }],
    },
  },
  {
    // The options of a Nest application are declared as a class, and passed as an object by everybody.
    files: ['docs/examples/nestjs/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-class-instance-assignment': 'off' },
  },
  {
    files: ['spec/**/*.ts'],
    extends: [tseslint.configs.recommended],
    rules: { '@typescript-eslint/no-explicit-any': 'error' },
  },
);
