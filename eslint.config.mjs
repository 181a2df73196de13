import tseslint from 'typescript-eslint';

const zodAsNamespace = {
  selector: "ImportDeclaration[source.value='zod'] :matches(ImportSpecifier, ImportDefaultSpecifier)",
  message: "Use import * as z: the object brings every language's messages into the bundle.",
};

/** Assertions on what Playwright finds drawn at that moment, which a slow machine has yet to draw. */
const hastyAssertion = {
  selector: [
    "CallExpression:matches([callee.name='assert'], [callee.object.name='assert'])",
    'AwaitExpression > CallExpression[callee.property.name=/^(count|all(InnerTexts|TextContents)|innerText|textContent|inputValue|getAttribute|is(Visible|Hidden|Enabled|Disabled|Checked|Editable))$/]',
  ].join(' '),
  message: 'What the editor draws comes later: use a helper of test/e2e/expect.ts.',
};

export default tseslint.config(
  { ignores: ['dist/', 'artifacts/', 'node_modules/', 'test/fixtures/'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', zodAsNamespace],
    },
  },
  {
    files: ['test/e2e/**/*.ts'],
    ignores: ['test/e2e/expect.ts'],
    rules: { 'no-restricted-syntax': ['error', zodAsNamespace, hastyAssertion] },
  },
);
