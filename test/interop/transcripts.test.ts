import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { startCodexServer } from '../harness/codexServer.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCordonServer } from '../harness/cordonServer.ts';
import { openTestClient } from '../harness/execServer.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { Transcript } from '../harness/wireTranscript.ts';
import { Recorder } from '../harness/wireTranscript.ts';
import { intendedDifferences } from './transcriptDifferences.ts';
import type { Script } from './transcriptScripts.ts';
import { scripts } from './transcriptScripts.ts';

describe('codex exec-server and ours, by the same requests', function () {
  this.timeout(120_000);
  let peer: SpawnedServer;
  let own: SpawnedServer;
  before(async () => {
    peer = await startCodexServer();
    own = await startCordonServer('ws://127.0.0.1:0', [], { ...process.env, TMPDIR: '/tmp' });
  });
  after(async () => {
    await peer.dispose();
    await own.dispose();
  });

  for (const script of scripts) {
    it(`agree about ${script.name}, field by field`, async () => {
      const [theirs, ours] = [await record(script, peer), await record(script, own)];
      const places = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
      const found = places.filter((place) => !isDeepStrictEqual(theirs[place], ours[place]));
      const intended = intendedDifferences.filter((it) => it.scripts.includes(script.name));
      const unexpected = found.filter((place) => !intended.some((it) => it.place.test(place)));
      assert.deepEqual(
        unexpected.map(
          (place) => `${place}: ${JSON.stringify(theirs[place])} there, ${JSON.stringify(ours[place])} here`,
        ),
        [],
      );
      const stale = intended.filter((it) => !found.some((place) => it.place.test(place)));
      assert.deepEqual(stale, [], 'intended, but not found');
    });
  }

  async function record(script: Script, server: SpawnedServer): Promise<Transcript> {
    const folder = await createTemporaryFolder('transcript');
    const client = await openTestClient(server.url);
    try {
      if (script.isBare !== true) {
        await client.greet();
      }
      const recorder = new Recorder(client, folder.path);
      await script.run(recorder);
      return recorder.transcript;
    } finally {
      client.close();
      await folder.dispose();
    }
  }
});
