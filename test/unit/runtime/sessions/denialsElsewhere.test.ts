import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Emitter } from '../../../../src/base/event.ts';
import { localName } from '../../../../src/runtime/environments/environment.ts';
import { EventWindow } from '../../../../src/runtime/exec/eventWindow.ts';
import type { ExecEvent, ExecProcess } from '../../../../src/runtime/exec/execBackend.ts';
import { Session } from '../../../../src/runtime/sessions/session.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { testPolicy } from '../../../harness/testRuntime.ts';

describe('the denials of a session on another machine', () => {
  let folder: TemporaryFolder;
  let place: string;
  before(async () => {
    folder = await createTemporaryFolder('elsewhere');
    mkdirSync(join(folder.path, 'real'));
    symlinkSync('real', join(folder.path, 'link'));
    place = join(folder.path, 'link', 'file');
  });
  after(() => folder.dispose());

  /** Of a command that could not write to a path through a link that this machine has. */
  const deniedPath = async (environment: string): Promise<string | undefined> => {
    const window = new EventWindow();
    const events = new Emitter<ExecEvent>();
    window.onEvent((event) => events.fire(event));
    const session = new Session(processOf(window, events), {
      record: {
        ...{ version: 1, id: 1000, commandLine: 'x', cwd: '/srv/w', owner: 'agent', environment },
        root: { name: 'w', path: '/srv/w', ...(environment !== localName && { environment }) },
        policy: testPolicy('/srv/w'),
        ...{ startedAt: 0, audit: '', answered: { seq: 0, heldBack: '' } },
        ...{ isShown: false, isForgotten: false },
      },
    });
    window.output('stderr', Buffer.from(`sh: 1: cannot create ${place}: Read-only file system\n`));
    window.exited({ exitCode: 2, sandboxDenied: true });
    window.closed();
    await session.closed;
    return session.denial()?.path;
  };

  it('name its paths as it does: no file of this machine is looked at', async () => {
    assert.equal(await deniedPath('far'), place);
    assert.equal(await deniedPath(localName), join(folder.path, 'real', 'file'));
  });
});

function processOf(window: EventWindow, events: Emitter<ExecEvent>): ExecProcess {
  return {
    sandbox: 'bubblewrap',
    isTty: false,
    exit: undefined,
    findings: [],
    refusals: { requests: [], calls: [] },
    closed: new Promise(() => {}),
    onEvent: events.event,
    read: (request) => window.read(request),
    write: () => 'accepted',
    endInput: () => {},
    resize: () => {},
    signal: () => true,
    terminate: async () => {},
  };
}
