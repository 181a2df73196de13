import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import { describeBackend } from '../harness/execBackendSuite.ts';
import { createTestSandbox } from '../harness/testRuntime.ts';

for (const mode of ['danger-full-access', 'workspace-write'] as const) {
  describeBackend('on this machine', mode, () => createLocalBackend(createTestSandbox()));
}
