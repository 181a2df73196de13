import { measureSandbox } from './sandbox.ts';
for (let i=0;i<2;i++) await measureSandbox(40);
