import { describeCodexAgent } from '../harness/codexAgentSuite.ts';
import { startCodexServerAtHome } from '../harness/codexServer.ts';
import { startCordonServer } from '../harness/cordonServer.ts';

// The second shows that the first expects what the agent gets from its own server.
describeCodexAgent('our exec-server', startCordonServer);
describeCodexAgent('its own exec-server', startCodexServerAtHome);
