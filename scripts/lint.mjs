// ESLint and Prettier's check, both always, so that one run shows everything.
import { runTool } from './project.mjs';

const codes = [
  await runTool('eslint/bin/eslint.js', ['--max-warnings=0', '.']),
  await runTool('prettier/bin/prettier.cjs', ['--check', '--log-level=warn', '.']),
];
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
