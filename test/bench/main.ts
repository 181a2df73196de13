import { measureActivation } from './activation.ts';
import { measureCommandLines } from './commandLines.ts';
import { measureCommands } from './commands.ts';
import { measureDecisions } from './decisions.ts';
import { measurePatches } from './patches.ts';
import { measureProxy } from './proxy.ts';
import { measureSandbox } from './sandbox.ts';
import { measureStream } from './stream.ts';

await measurePatches();
await measureCommandLines();
await measureDecisions();
await measureCommands();
await measureSandbox();
await measureStream();
await measureProxy();
const times = await measureActivation();
console.log('\nActivation of the extension, as the editor states it');
console.log(`  ${times.join(', ')} ms in ${times.length} fresh editors`);
