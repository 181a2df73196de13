import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { fail, ok } from '../../src/base/result.ts';
import { errorCodes, RpcError } from '../../src/runtime/execServer/protocol/errors.ts';
import { uriOf } from '../../src/runtime/execServer/protocol/fileUri.ts';
import type { ParamsOf } from '../../src/runtime/execServer/protocol/methods.ts';
import { methods } from '../../src/runtime/execServer/protocol/methods.ts';
import type { SandboxContext } from '../../src/runtime/execServer/protocol/sandboxContext.ts';
import type { FileMethod } from '../../src/runtime/execServer/services/files/fileMethods.ts';
import { AnswerBudget } from '../../src/runtime/execServer/server/answerBudget.ts';
import { longestAnswer } from '../../src/runtime/execServer/services/files/limits.ts';
import { createFileService } from '../../src/runtime/execServer/services/files/fileService.ts';
import { judgeByName } from '../../src/runtime/execServer/services/files/judgeByName.ts';
import { policyJudge } from '../../src/runtime/execServer/services/files/policyJudge.ts';
import { FileWorker } from '../../src/runtime/execServer/services/files/worker/fileWorker.ts';
import { workerPolicy } from '../../src/runtime/execServer/services/files/worker/workerPolicy.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { SandboxManager } from '../../src/sandbox/sandboxManager.ts';
import { ServiceClient } from '../harness/fileServiceClient.ts';
import { policyOf } from '../harness/policyOf.ts';
import { descendantsOf } from '../harness/processes.ts';
import { bringWorker, judgeFacts, workerArgv, workerPath } from '../harness/workerBundle.ts';
import type { Edit } from './harness.ts';
import { all, Arena, nodePath, withoutMount, writableMachine } from './harness.ts';

/** One that asks nobody: its first line says that everything is allowed. */
const lenient = [
  nodePath,
  '-e',
  `const { PassThrough, Transform } = require('node:stream');
   let isFirst = true;
   const input = process.stdin.pipe(new Transform({ transform(chunk, _, done) {
     const text = isFirst ? chunk.toString().replace('"mode":"workspace-write"', '"mode":"danger-full-access"') : chunk;
     isFirst = false;
     done(null, text);
   } }));
   Object.defineProperty(process, 'stdin', { value: input });
   require(${JSON.stringify(workerPath)}).runFileWorker();`,
];

/** What stands around a call. */
interface Defences {
  /** Asks the policy in the server, by name. */
  readonly front: boolean;
  /** Asks the policy in the worker, about what is held. */
  readonly judge: boolean;
  /** Mounts of the sandbox are as they should be. */
  readonly kernel: boolean;
}

const everything: Defences = { front: true, judge: true, kernel: true };

type Attempt = <M extends FileMethod>(
  method: M,
  params: Omit<ParamsOf<M>, 'sandbox' | 'followSymlinks'>,
) => Promise<unknown>;

/** Makes calls under a policy with some of the defences. */
async function under(
  arena: Arena,
  policy: SandboxPolicy,
  { front, judge, kernel }: Defences,
  without: Edit,
  action: (attempt: Attempt) => Promise<void>,
): Promise<void> {
  const sandbox: SandboxManager = {
    check: () => arena.manager.check(),
    transform: async (given, command) => {
      const launch = await arena.manager.transform(given, command);
      return launch.ok && !kernel ? ok({ ...launch.value, argv: without(launch.value.argv) }) : launch;
    },
  };
  const worker = new FileWorker(
    workerPolicy(policy),
    { sandbox, facts: judgeFacts, argv: judge ? workerArgv : lenient, log: silentLog, idleMs: 60_000 },
    () => undefined,
    () => undefined,
  );
  const attempt: Attempt = async (method, params) => {
    const parsed = methods[method].params.parse(params) as never;
    if (front) {
      await judgeByName(method, parsed, policyJudge(policy, judgeFacts));
    }
    return worker.call(method, parsed);
  };
  try {
    await action(attempt);
  } finally {
    worker.dispose();
  }
}

/** The code of the refusal, or `done`. */
async function outcomeOf(call: Promise<unknown>): Promise<number | 'done'> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (error instanceof RpcError) {
      return error.code;
    }
    throw error;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const textOf = (result: unknown): string =>
  Buffer.from((result as { dataBase64: string }).dataBase64, 'base64').toString();

let arena: Arena;
function useArena(): void {
  before(function () {
    if (process.platform !== 'linux') this.skip();
    bringWorker();
  });
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());
}

/** Another attack must not find what the one before has left. */
function renewArena(): void {
  arena.dispose();
  arena = new Arena();
}

const inside = (...names: string[]): string => join(arena.root, ...names);
const outside = (...names: string[]): string => join(arena.outside, ...names);

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** The folder outside is hidden. */
function hidingOutside(): SandboxPolicy {
  const rule = { path: arena.outside, access: 'none', source: 'user' } as const;
  const policy = policyOf(arena.root);
  return { ...policy, files: [...policy.files, rule] };
}

/** Neither the mount that hides the folder outside nor the one that makes the machine read-only. */
const bare: Edit = (argv) => all(writableMachine, withoutMount(arena.outside))(argv);

/** Swaps a folder of the root for a link to the one outside, and back, as fast as it can, as long as the action runs. */
async function swapping(action: () => Promise<void>): Promise<void> {
  const names = JSON.stringify([inside('folder'), inside('aside'), arena.outside]);
  const swapper = spawn(
    process.execPath,
    [
      '-e',
      `const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
       const [folder, aside, target] = ${names};
       console.log('ready');
       for (;;) {
         renameSync(folder, aside);
         try { symlinkSync(target, folder); unlinkSync(folder); } catch {}
         for (;;) {
           // Somebody else may have made a folder of that name.
           try { renameSync(aside, folder); break; } catch {}
           try { rmSync(folder, { recursive: true, force: true }); } catch {}
         }
       }`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await once(swapper.stdout, 'data');
    await action();
  } finally {
    assert.equal(swapper.exitCode, null, 'it has ended early');
    swapper.kill('SIGKILL');
    await once(swapper, 'close');
  }
}

describe('A file call cannot be led out of its sandbox', function () {
  this.timeout(120_000);
  useArena();

  let copies = 0;

  /** Each call, `true` when it reached something outside. */
  const calls: readonly ((attempt: Attempt) => Promise<boolean>)[] = [
    async (attempt) => {
      const read = await attempt('fs/readFile', { path: uriOf(inside('folder/file')) });
      return textOf(read) === 'secret';
    },
    async (attempt) => {
      await attempt('fs/writeFile', { path: uriOf(inside('folder/file')), dataBase64: base64('evil') });
      return readFileSync(outside('file'), 'utf8') !== 'secret';
    },
    async (attempt) => {
      await attempt('fs/remove', { path: uriOf(inside('folder/victim')), recursive: true, force: true });
      return !existsSync(outside('victim/deep'));
    },
    async (attempt) => {
      const copied = inside(`copy-${++copies}`);
      const [sourcePath, destinationPath] = [uriOf(inside('folder')), uriOf(copied)];
      await attempt('fs/copy', { sourcePath, destinationPath, recursive: true });
      // A link is copied as a link.
      return !lstatSync(copied).isSymbolicLink() && existsSync(join(copied, 'only-outside'));
    },
    async (attempt) => {
      const options = { maxDepth: 4, maxDirectories: 99, maxEntries: 99, followDirectorySymlinks: false };
      const found = await attempt('fs/walk', {
        path: uriOf(arena.root),
        options: { ...options, pruneHiddenDirectories: false },
      });
      return JSON.stringify(found).includes('folder/only-outside');
    },
    async (attempt) => {
      const found = await attempt('fs/readDirectory', { path: uriOf(inside('folder')) });
      return JSON.stringify(found).includes('only-outside');
    },
    async (attempt) => {
      await attempt('fs/createDirectory', { path: uriOf(inside('folder/made')), recursive: true });
      return existsSync(outside('made'));
    },
  ];

  function lay(): void {
    for (const folder of [inside('folder'), arena.outside]) {
      put(join(folder, 'victim/deep'), '');
    }
    put(inside('folder/file'), 'own');
    put(outside('file'), 'secret');
    put(outside('only-outside'), 'secret');
  }

  /** How many calls were made until one got out, or undefined when none of `most` did. */
  async function callsUntilOut(attempt: Attempt, most: number): Promise<number | undefined> {
    let made = 0;
    let out: number | undefined;
    const attack = async (offset: number): Promise<void> => {
      while (made < most && out === undefined) {
        const call = calls[(made++ + offset) % calls.length];
        const isOut = await call?.(attempt).catch((error: unknown) => {
          assert.ok(error instanceof RpcError, String(error));
          return false;
        });
        out = isOut === true ? made : out;
      }
    };
    await swapping(async () => {
      await Promise.all([0, 1, 2, 3].map(attack));
    });
    return out;
  }

  for (const [name, defences] of [
    ['', everything],
    [' with the mounts alone', { front: true, judge: false, kernel: true }],
    [' with the evaluator alone', { front: true, judge: true, kernel: false }],
  ] as const) {
    it(`by a folder that becomes a link between the check and the use${name}`, async () => {
      lay();
      await under(arena, hidingOutside(), defences, bare, async (attempt) => {
        assert.equal(await outcomeOf(attempt('fs/readFile', { path: uriOf(inside('folder/file')) })), 'done');
        assert.equal(await callsUntilOut(attempt, 2500), undefined);
      });
      assert.equal(readFileSync(outside('file'), 'utf8'), 'secret');
      assert.deepEqual(readdirSync(arena.outside).sort(), ['file', 'only-outside', 'victim']);
    });
  }

  it('by a folder that becomes a link, though it can with a check by name alone', async () => {
    lay();
    const defences = { front: true, judge: false, kernel: false };
    await under(arena, hidingOutside(), defences, bare, async (attempt) => {
      assert.notEqual(await callsUntilOut(attempt, 100_000), undefined);
    });
  });

  it('by a file that is hidden by a glob and came after the worker started', async () => {
    const attack = async (defences: Defences): Promise<(number | 'done')[]> => {
      renewArena();
      put(inside('other'), '');
      const outcomes: (number | 'done')[] = [];
      const hidden = [{ folder: arena.root, glob: '**/.env', source: 'user' }] as const;
      await under(arena, policyOf(arena.root, { hidden }), defences, bare, async (attempt) => {
        await attempt('fs/readFile', { path: uriOf(inside('other')) });
        put(inside('sub/.env'), 'secret');
        symlinkSync('sub/.env', inside('alias'));
        for (const name of ['sub/.env', 'alias']) {
          outcomes.push(await outcomeOf(attempt('fs/readFile', { path: uriOf(inside(name)) })));
        }
        const [sourcePath, destinationPath] = [uriOf(inside('sub')), uriOf(inside('copy'))];
        outcomes.push(await outcomeOf(attempt('fs/copy', { sourcePath, destinationPath, recursive: true })));
      });
      return outcomes;
    };
    const refused = Array.from({ length: 3 }, () => errorCodes.invalidRequest);
    assert.deepEqual(await attack(everything), refused);
    assert.deepEqual(await attack({ ...everything, front: false }), refused);
    assert.deepEqual(await attack({ ...everything, front: false, judge: false }), ['done', 'done', 'done']);
  });

  it('by writing what git runs', async () => {
    const attack = async (defences: Defences): Promise<(number | 'done')[]> => {
      renewArena();
      execFileSync('git', ['init', '-q', arena.root]);
      const outcomes: (number | 'done')[] = [];
      const git = withoutMount(inside('.git/hooks'));
      await under(
        arena,
        policyOf(arena.root),
        defences,
        (argv) => loosened(argv, git),
        async (attempt) => {
          for (const name of ['.git/hooks/post-commit', '.git/config']) {
            const params = { path: uriOf(inside(name)), dataBase64: base64('evil') };
            outcomes.push(await outcomeOf(attempt('fs/writeFile', params)));
          }
        },
      );
      return outcomes;
    };
    const refused = [errorCodes.internal, errorCodes.internal];
    assert.deepEqual(await attack(everything), refused);
    assert.deepEqual(await attack({ front: false, judge: false, kernel: true }), refused);
    assert.deepEqual(await attack({ front: false, judge: true, kernel: false }), refused);
    assert.deepEqual(await attack({ front: false, judge: false, kernel: false }), ['done', 'done']);
  });

  it('by writing what git runs in a repository that came after the worker started', async () => {
    const attack = async (defences: Defences): Promise<number | 'done'> => {
      renewArena();
      let outcome: number | 'done' = 'done';
      await under(arena, policyOf(arena.root), defences, bare, async (attempt) => {
        put(inside('other'), '');
        await attempt('fs/readFile', { path: uriOf(inside('other')) });
        execFileSync('git', ['init', '-q', inside('sub')]);
        const params = { path: uriOf(inside('sub/.git/hooks/post-commit')), dataBase64: base64('evil') };
        outcome = await outcomeOf(attempt('fs/writeFile', params));
      });
      return outcome;
    };
    assert.equal(await attack(everything), errorCodes.internal);
    assert.equal(await attack({ ...everything, front: false }), errorCodes.internal);
    assert.equal(await attack({ ...everything, front: false, judge: false }), 'done');
  });

  it('through /proc', async () => {
    put(outside('file'), 'secret');
    put(inside('file'), 'own');
    const other = spawn('sleep', ['1000'], { cwd: arena.outside, stdio: 'ignore' });
    try {
      await once(other, 'spawn');
      const roads = [
        `/proc/self/root${outside('file')}`,
        `/proc/${other.pid}/cwd/file`,
        `/proc/1/root${outside('file')}`,
      ];
      const read = async (attempt: Attempt): Promise<string[]> =>
        Promise.all(
          roads.map((path) => attempt('fs/readFile', { path: uriOf(path) }).then(textOf, () => 'refused')),
        );
      const refused = ['refused', 'refused', 'refused'];
      for (const defences of [everything, { front: false, judge: false, kernel: true }]) {
        await under(arena, hidingOutside(), defences, bare, async (attempt) => {
          assert.deepEqual(await read(attempt), refused);
        });
      }
      const client = new ServiceClient(
        serviceWith(() => policyOf(arena.root, { mode: 'danger-full-access' })),
      );
      const plain: Attempt = (method, params) => client.call(method, params as never);
      // Root of the machine's first process is for root only.
      assert.deepEqual((await read(plain)).slice(0, 2), ['secret', 'secret']);
      client.close();
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('by writing to the worker itself', async () => {
    put(inside('file'), 'own');
    const attack = async (defences: Defences): Promise<(number | 'done')[]> => {
      const outcomes: (number | 'done')[] = [];
      await under(arena, policyOf(arena.root), defences, bare, async (attempt) => {
        for (const path of ['/proc/self/mem', '/proc/self/fd/1', '/proc/self/oom_score_adj']) {
          rmSync(inside('alias'), { force: true });
          symlinkSync(path, inside('alias'));
          for (const place of [path, inside('alias')]) {
            const params = { handleId: place.slice(-20), path: uriOf(place), mode: 'replace' } as const;
            outcomes.push(await outcomeOf(attempt('fs/open', params)));
          }
        }
      });
      return outcomes;
    };
    for (const defences of [everything, { ...everything, front: false }]) {
      assert.ok(!(await attack(defences)).includes('done'));
    }
    assert.ok((await attack({ ...everything, front: false, judge: false })).includes('done'));
  });
});

describe('A file call cannot disturb others', function () {
  this.timeout(60_000);
  useArena();

  it('by a name with the ends of lines in it', async () => {
    const client = new ServiceClient(serviceWith(() => policyOf(arena.root)));
    const sandbox = anyContext;
    const name = 'a\n{"id":2,"result":{"dataBase64":"ZXZpbA=="}}\n';
    put(inside('plain'), 'own');
    await client.call('fs/writeFile', { path: uriOf(inside(name)), dataBase64: base64('strange'), sandbox });
    const [plain, strange] = await Promise.all([
      client.call('fs/readFile', { path: uriOf(inside('plain')), sandbox }),
      client.refusal('fs/readFile', { path: uriOf(inside(name, name)), sandbox }),
    ]);
    assert.equal(textOf(plain), 'own');
    assert.equal(strange.code, errorCodes.internal);
    assert.equal(readFileSync(inside(name), 'utf8'), 'strange');
    client.close();
  });

  it('by a pipe or a device in the place of a file', async () => {
    execFileSync('mkfifo', [inside('pipe')]);
    put(inside('plain'), 'own');
    for (const sandbox of [anyContext, null]) {
      const client = new ServiceClient(serviceWith(() => policyOf(arena.root)));
      for (const path of [inside('pipe'), '/dev/zero', '/dev/tty'].map(uriOf)) {
        assert.equal(
          (await client.refusal('fs/readFile', { path, sandbox })).code,
          errorCodes.invalidRequest,
        );
        assert.equal(
          (await client.refusal('fs/open', { path, handleId: 'h', sandbox })).code,
          errorCodes.invalidRequest,
        );
        await client.refusal('fs/writeFile', { path, dataBase64: base64('x'), sandbox });
        const copy = { sourcePath: uriOf(inside('plain')), destinationPath: path, recursive: false, sandbox };
        await client.refusal('fs/copy', copy);
        assert.equal(
          textOf(await client.call('fs/readFile', { path: uriOf(inside('plain')), sandbox })),
          'own',
        );
      }
      client.close();
    }
    // The control: a call that just opens its path waits, and one more of those than there are threads stops them all.
    const naive = spawn(process.execPath, [
      '-e',
      `require('fs').readFileSync(${JSON.stringify(inside('pipe'))})`,
    ]);
    const first = await Promise.race([
      once(naive, 'exit').then(() => 'ended'),
      new Promise((resolve) => setTimeout(resolve, 1000, 'waits')),
    ]);
    naive.kill('SIGKILL');
    assert.equal(first, 'waits');
  });

  it('of another policy: no worker serves two', async () => {
    put(inside('one/file'), 'first');
    put(inside('two/file'), 'second');
    const hiding = (name: string): SandboxPolicy => {
      const policy = policyOf(arena.root);
      const rule = { path: inside(name), access: 'none', source: 'user' } as const;
      return { ...policy, files: [...policy.files, rule] };
    };
    const outcomes = async (policyFor: (context: SandboxContext) => SandboxPolicy): Promise<string[]> => {
      const client = new ServiceClient(serviceWith(policyFor));
      const results = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          // The context's user says which policy is meant.
          const sandbox = { ...anyContext, userHomeDir: uriOf(index % 2 === 0 ? '/one' : '/two') };
          const path = uriOf(inside(index % 4 < 2 ? 'one/file' : 'two/file'));
          return client.call('fs/readFile', { path, sandbox }).then(textOf, () => 'refused');
        }),
      );
      client.close();
      return results.slice(0, 4).filter((first, index) => {
        assert.ok(results.every((result, at) => at % 4 !== index || result === first));
        return true;
      });
    };
    const policyFor = ({ userHomeDir }: SandboxContext): SandboxPolicy =>
      hiding(String(userHomeDir).slice(-3));
    assert.deepEqual(await outcomes(policyFor), ['refused', 'first', 'second', 'refused']);
    assert.deepEqual(await outcomes(() => policyOf(arena.root)), ['first', 'first', 'second', 'second']);
  });

  it('by ending the worker: its calls fail, and the next one has a new worker', async () => {
    put(inside('file'), 'own');
    const client = new ServiceClient(serviceWith(() => policyOf(arena.root)));
    const read = { path: uriOf(inside('file')), sandbox: anyContext };
    await client.call('fs/readFile', read);
    const pids = workersOf(process.pid);
    assert.equal(pids.length, 1);
    // What runs in its sandbox is stopped, so that calls wait in it; each has come there when others have been done so many times.
    pids.flatMap((pid) => descendantsOf(pid)).forEach(({ pid }) => process.kill(pid, 'SIGSTOP'));
    const inFlight = Promise.all(
      Array.from({ length: 50 }, () => outcomeOf(client.call('fs/readFile', read))),
    );
    for (let count = 0; count < 200; count++) {
      await client.call('fs/getMetadata', { path: read.path });
    }
    pids.forEach((pid) => process.kill(pid, 'SIGKILL'));
    const outcomes = await inFlight;
    assert.ok(outcomes.includes(errorCodes.internal), JSON.stringify(outcomes));
    assert.equal(textOf(await client.call('fs/readFile', read)), 'own');
    client.close();
  });
});

const anyContext: SandboxContext = {
  permissions: { type: 'disabled' },
  windowsSandboxLevel: 'disabled',
  workspaceRoots: [],
  useLegacyLandlock: false,
};

function serviceWith(
  policyFor: (context: SandboxContext) => SandboxPolicy,
): ReturnType<typeof createFileService> {
  return createFileService({
    answers: new AnswerBudget(longestAnswer),
    confine: async (context) => {
      try {
        return ok(policyFor(context));
      } catch (error) {
        return fail(error as RpcError);
      }
    },
    surroundings: () => ({ sandbox: arena.manager, facts: judgeFacts }),
    workerArgv,
  });
}

/** The mounts of `.git` are gone, whatever the launcher has mounted below it. */
function loosened(argv: readonly string[], git: Edit): readonly string[] {
  void git;
  const mounted = argv.filter((word, index) => word.startsWith(inside('.git')) && argv[index + 1] !== word);
  return [...new Set(mounted)].reduce((current, path) => {
    try {
      return withoutMount(path)(current);
    } catch {
      // Named for another reason than a mount.
      return current;
    }
  }, argv);
}

/** Launchers that a process has started, which are workers' when nothing else runs. */
function workersOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${candidate}/stat`, 'utf8'))?.[1];
        return Number(parent) === pid && /launch-linux|bwrap/.test(readlinkSync(`/proc/${candidate}/exe`));
      } catch {
        return false;
      }
    });
}
