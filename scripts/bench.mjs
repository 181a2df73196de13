// Builds as it ships, then runs the benchmarks.
import { projectNode, runProgram } from './project.mjs';
import { build } from '../esbuild.mjs';

await build({ production: true });
process.exitCode = await runProgram(projectNode(), [
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  '--expose-gc',
  'test/bench/main.ts',
  ...process.argv.slice(2),
]);
