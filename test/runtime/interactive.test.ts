import { describeInteractive } from '../harness/interactiveSuite.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';

describeInteractive('on this machine', createTestRuntime);
