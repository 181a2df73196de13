import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/event.ts';
import { ok } from '../../../../src/base/result.ts';
import type {
  ExecBackend,
  ExecEvent,
  ExecProcess,
  FoundProcess,
  ReadResult,
  StartParams,
} from '../../../../src/runtime/exec/execBackend.ts';
import { EventWindow } from '../../../../src/runtime/exec/eventWindow.ts';
import type { Session } from '../../../../src/runtime/sessions/session.ts';
import { SessionManager } from '../../../../src/runtime/sessions/sessionManager.ts';
import { testPolicy } from '../../../harness/testRuntime.ts';

/** A process that outlives the program which looks at it: each look is another `ExecProcess`. */
class Survivor {
  readonly window = new EventWindow();
  readonly written: string[] = [];
  readonly isTty: boolean;
  label: string;
  isTerminated = false;

  constructor({ tty, label = '' }: Pick<StartParams, 'tty' | 'label'>) {
    this.isTty = tty !== undefined;
    this.label = label;
  }

  print(text: string | Uint8Array): void {
    this.window.output(this.isTty ? 'pty' : 'stdout', Buffer.from(text as string));
  }

  end(): void {
    this.window.exited({ exitCode: 0, sandboxDenied: false });
    this.window.closed();
  }

  look(): ExecProcess {
    const events = new Emitter<ExecEvent>();
    this.window.onEvent((event) => events.fire(event));
    return {
      sandbox: 'none',
      isTty: this.isTty,
      exit: this.window.exit,
      findings: [],
      refusals: { requests: [], calls: [] },
      closed: new Promise(() => {}),
      onEvent: events.event,
      read: (request) => this.window.read(request),
      write: (bytes) => {
        this.written.push(Buffer.from(bytes).toString());
        return 'accepted';
      },
      endInput: () => {},
      resize: () => {},
      signal: () => true,
      terminate: async () => {
        this.isTerminated = true;
      },
      relabel: (label) => {
        this.label = label;
      },
    };
  }
}

/** A machine with processes on it that do not end with their managers. */
class Machine implements ExecBackend {
  readonly processes: Survivor[] = [];
  environment: string | undefined;
  /** Where some of them are, whatever the others are. */
  readonly placed = new Map<Survivor, string>();

  async start(params: StartParams) {
    const started = new Survivor(params);
    this.processes.push(started);
    return ok(started.look());
  }

  async found(): Promise<readonly FoundProcess[]> {
    return Promise.all(
      this.processes.map(async (process) => {
        const retained: ReadResult = await process.window.read({ afterSeq: 0 });
        const environment = this.placed.get(process) ?? this.environment;
        return {
          ...{ process: process.look(), retained, label: process.label },
          ...(environment !== undefined && { environment }),
        };
      }),
    );
  }
}

const root = { name: 'w', path: '/srv/w' };

describe('sessions from before a reload', () => {
  let machine: Machine;
  let sessions: SessionManager;

  beforeEach(() => {
    machine = new Machine();
    sessions = new SessionManager(machine);
  });

  const start = async (tty?: StartParams['tty'], owner: 'agent' | 'person' = 'agent') => {
    const started = await sessions.start({
      ...{ argv: ['x'], cwd: '/srv/w/a', env: {}, root, owner, commandLine: 'x --all' },
      policy: testPolicy('/srv'),
      ...(tty && { tty }),
    });
    assert.ok(started.ok);
    return { session: started.value, process: machine.processes.at(-1) as Survivor };
  };

  /** The window goes, and another one comes. */
  const reload = async (): Promise<readonly Session[]> => {
    await sessions.dispose();
    sessions = new SessionManager(machine);
    return sessions.restore(() => undefined);
  };
  const stream = async (session: Session | undefined): Promise<string | undefined> =>
    (await session?.takeAnswer('stream', 1_000))?.text;
  const screen = async (session: Session | undefined): Promise<string | undefined> =>
    (await session?.takeAnswer('screen', 1_000))?.text;

  it('are what they were, under their numbers', async () => {
    const { session } = await start({ columns: 100, rows: 30 });
    const [again] = await reload();
    assert.ok(again);
    assert.equal(sessions.use(session.id), again);
    for (const key of ['id', 'commandLine', 'cwd', 'owner', 'environment', 'isTty'] as const) {
      assert.equal(again[key], session[key], key);
    }
    assert.deepEqual(again.root, root);
    assert.deepEqual(again.policy, session.policy);
    assert.deepEqual(again.startedAt, session.startedAt);
  });

  it('tell what was not told, once', async () => {
    const { session, process } = await start();
    process.print('one\n');
    assert.equal(await stream(session), 'one\n');
    process.print('two\n');
    const [again] = await reload();
    process.print('three\n');
    assert.equal(await stream(again), 'two\nthree\n');
    assert.equal(await stream(again), '');
  });

  it('keep the beginning of a character until its end comes', async () => {
    const euro = Buffer.from('€');
    const { session, process } = await start();
    process.print(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
    assert.equal(await stream(session), 'a');
    const [again] = await reload();
    process.print(euro.subarray(2));
    assert.equal(await stream(again), '€');
  });

  it('have their screen, and the next answer shows what changed on it', async () => {
    const { session, process } = await start({ columns: 40, rows: 5 });
    process.print('first\r\nsecond\r\n');
    assert.equal(await screen(session), 'first\nsecond');
    const [again] = await reload();
    assert.equal(await screen(again), '');
    process.print('third\r\n');
    assert.equal(await screen(again), 'third');
    assert.match((await again?.replay()) ?? '', /first[^]*second[^]*third/);
  });

  it('draw their screen at the size that it had last', async () => {
    const { session, process } = await start({ columns: 40, rows: 5 });
    session.resize({ columns: 10, rows: 5 });
    process.print('0123456789abc');
    const [again] = await reload();
    process.print('\x1b[1A\rX');
    assert.equal(await screen(again), 'X123456789abc');
  });

  it('do not answer again what the program asked of its terminal before', async () => {
    const { session, process } = await start({ columns: 40, rows: 5 });
    process.print('\x1b[6n');
    await session.replay();
    assert.equal(process.written.length, 1);
    const [again] = await reload();
    await again?.replay();
    assert.equal(process.written.length, 1);
    process.print('\x1b[6n');
    await again?.replay();
    assert.equal(process.written.length, 2);
  });

  it('say when output was lost in between', async () => {
    const { session, process } = await start();
    process.print('told\n');
    await session.takeAnswer('stream', 1_000);
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 2_000; count++) {
      process.print(line);
    }
    const [again] = await reload();
    assert.match((await stream(again)) ?? '', /\[earlier output is no longer kept\]\nx/);
  });

  it('that ended meanwhile tell their end', async () => {
    const { process } = await start();
    process.print('done\n');
    process.end();
    const [again] = await reload();
    await again?.closed;
    assert.equal(again?.state.kind, 'exited');
    assert.equal(await stream(again), 'done\n');
  });

  it('that were told to their end stay out of the tools’ way', async () => {
    const { session, process } = await start();
    process.end();
    await session.closed;
    sessions.forget(session.id);
    const [again] = await reload();
    assert.equal(sessions.known().length, 0);
    assert.equal(sessions.get(session.id), again);
    assert.notEqual(again?.record.ended, undefined);
  });

  it('remember whether they were looked at', async () => {
    const { session } = await start({ columns: 40, rows: 5 }, 'person');
    session.note({ isShown: true });
    const [again] = await reload();
    assert.equal(again?.record.isShown, true);
  });

  it('with a label of another version end, since nobody can name them', async () => {
    const { process } = await start();
    process.label = '{"version":2}';
    assert.deepEqual(await reload(), []);
    assert.equal(process.isTerminated, true);
  });

  it('are ended by the one that goes only when nobody can take them over', async () => {
    const { process } = await start();
    await sessions.dispose();
    assert.equal(process.isTerminated, false);
  });

  /** A label that another machine gives, about a session that it claims to have. */
  const claimed = async (changes: object): Promise<Survivor> => {
    const { process } = await start();
    process.label = JSON.stringify({ ...(JSON.parse(process.label) as object), ...changes });
    return process;
  };

  it('are of the machine that has them, whatever that machine says', async () => {
    machine.environment = 'far';
    const far = { environment: 'far', root: { ...root, environment: 'far' } };
    const [local, rootHere, honest] = [
      await claimed({}),
      await claimed({ ...far, root }),
      await claimed(far),
    ];
    const restored = await reload();
    assert.deepEqual(
      restored.map(({ environment }) => environment),
      ['far'],
    );
    assert.deepEqual(
      [local, rootHere, honest].map(({ isTerminated }) => isTerminated),
      [true, true, false],
    );
  });

  it('keep their number when another machine claims it, whose sessions get others', async () => {
    const far = { environment: 'far', root: { ...root, environment: 'far' } };
    const squatters = [await claimed(far), await claimed(far)];
    const { session, process } = await start();
    for (const squatter of squatters) {
      machine.placed.set(squatter, 'far');
      const record = JSON.parse(squatter.label) as object;
      squatter.label = JSON.stringify({ ...record, id: session.id });
    }
    const restored = await reload();
    assert.deepEqual(
      machine.processes.map(({ isTerminated }) => isTerminated),
      [false, false, false],
    );
    assert.equal(new Set(restored.map(({ id }) => id)).size, 3);
    sessions.use(session.id)?.write('mine');
    assert.deepEqual(process.written, ['mine']);
    // The new numbers are those of the next window, too.
    const numbers = restored.map(({ id }) => id).toSorted();
    assert.deepEqual((await reload()).map(({ id }) => id).toSorted(), numbers);
  });

  it('are not ended by what another machine has, however much that is', async () => {
    const far = { environment: 'far', root: { ...root, environment: 'far' } };
    const { process } = await start();
    const [label, others] = [process.label, [] as Survivor[]];
    for (let id = 20_000; id < 20_100; id++) {
      const other = new Survivor({ label: JSON.stringify({ ...(JSON.parse(label) as object), ...far, id }) });
      machine.placed.set(other, 'far');
      others.push(other);
    }
    machine.processes.push(...others);
    await reload();
    for (let count = 0; count < 20; count++) {
      await start();
    }
    assert.equal(process.isTerminated, false);
    assert.equal(others.filter(({ isTerminated }) => isTerminated).length, 20);
  });

  it('are left out when their policy is none, which spoils no other', async () => {
    const { policy } = (await start()).session;
    for (const broken of [
      { ...policy, files: [{}] },
      { ...policy, hosts: undefined },
      { ...policy, sources: {} },
    ]) {
      await claimed({ policy: broken });
    }
    assert.equal((await reload()).length, 1);
  });
});
