import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { discoveryService } from '../../../../src/runtime/execServer/services/discovery/discoveryService.ts';
import { at, contextOf, place } from '../../../harness/sandboxContexts.ts';
import { ServiceBench } from '../../../harness/servedConnection.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

const uri = (path: string): string => pathToFileURL(path).href;

describe('Discovery on an exec-server that has nothing to discover', () => {
  let temporary: TemporaryFolder;
  let bench: ServiceBench;
  let cwd: string;
  beforeEach(async () => {
    temporary = await createTemporaryFolder('discovery');
    cwd = uri(temporary.path);
    bench = new ServiceBench(discoveryService({ environment: { CODEX_HOME: '/codex home' } }));
  });
  afterEach(() => temporary.dispose());

  it('answers with an empty configuration', async () => {
    const answer = await bench.call('environmentConfig/read', {
      cwd,
      configPaths: [['mcp_servers']],
      requirementsPaths: [],
    });
    const nothing = { layers: [], cloudInsertionIndex: 0 };
    assert.deepEqual(
      [answer.codexHomeDir, answer.hostname, answer.config, answer.requirements],
      ['file:///codex%20home', hostname(), nothing, nothing],
    );
    assert.match(answer.userHomeDir, /^file:\/\/\//);
  });

  it('wants to know which part of it', async () => {
    for (const [configPaths, expected] of [
      [[], /at least one config or requirements path/],
      [[[]], /at least one key/],
    ] as const) {
      await assert.rejects(
        bench.call('environmentConfig/read', {
          cwd,
          configPaths: configPaths.map(() => []),
          requirementsPaths: [],
        }),
        (error: Error & { code: number }) => error.code === -32_602 && expected.test(error.message),
      );
    }
  });

  it('finds out about roots what there is to find out', async () => {
    writeFileSync(join(temporary.path, 'file'), '');
    const hidden = contextOf([place('root', 'read'), at(temporary.path, 'deny')]);
    const { roots } = await bench.call('capabilityRoots/discoverV1', {
      roots: [
        { id: 'a', path: cwd },
        { id: 'b', path: `${cwd}/missing` },
        { id: 'c', path: `${cwd}/file` },
        { id: 'd', path: cwd, sandbox: hidden },
        { id: 'e', path: cwd, sandbox: contextOf([place('root', 'read')]) },
      ],
    });
    assert.deepEqual(
      roots.map(({ id }) => id),
      ['a', 'b', 'c', 'd', 'e'],
    );
    const [plain, missing, file, covered, seen] = roots.map(({ error }) => error);
    assert.deepEqual([plain, seen], [null, null]);
    assert.match(String(missing), /failed to inspect capability root .*missing: ENOENT/);
    assert.match(String(file), /file is not a directory/);
    assert.match(String(covered), /hidden by its sandbox context/);
    assert.deepEqual(roots[0], {
      id: 'a',
      path: cwd,
      plugin: null,
      skills: [],
      namespaceManifests: [],
      warnings: [],
      error: null,
    });
  });

  it('has neither plugins nor skills, and refuses a context that is none', async () => {
    assert.deepEqual(await bench.call('capabilities/discoverV2', { cwd }), {
      plugins: [],
      skills: [],
      warnings: [],
    });
    const sandbox = contextOf([place('project_roots', 'write', '../x')], { workspaceRoots: [cwd] });
    await assert.rejects(bench.call('capabilities/discoverV2', { cwd, sandbox }), { code: -32_602 });
  });
});
