// Builds as it ships, then runs the benchmarks.
import { projectNode, runProgram } from './project.mjs';
import { build } from '../esbuild.mjs';

await build({ production: true });
process.exitCode = await runProgram(projectNode(), [
  '--expose-gc',
  'test/bench/main.ts',
  ...process.argv.slice(2),
]);
