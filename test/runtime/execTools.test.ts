import { describeExecTools } from '../harness/execToolsSuite.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';

describeExecTools('on this machine', createTestRuntime);
