import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import type { Outcome } from './harness.ts';
import { PersonsHome } from './personsHome.ts';

describe('A root in a repository below the hidden home', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let person: PersonsHome;
  let top: string;
  beforeEach(() => {
    person = new PersonsHome();
    top = dirname(person.project);
  });
  afterEach(() => person.dispose());

  const host = (folder: string, ...args: string[]): string =>
    execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, HOME: person.home },
    });
  const fill = (folder: string): void => {
    writeFileSync(join(folder, 'file'), 'one\n');
    writeFileSync(join(folder, '.gitignore'), '.env\n');
    writeFileSync(join(folder, '.env'), 'hunter2\n');
    writeFileSync(join(person.project, 'part'), 'part\n');
    host(folder, 'add', '.');
    host(folder, 'commit', '-qm', 'first');
  };
  const run = (script: string, user: PolicyInput['user'] = {}): Promise<Outcome> =>
    person.run(script, { user });
  const closed = { files: { ':repository': 'none' } } as const;

  it('sees in git what is there, and the rest of the repository', async () => {
    host(top, 'init', '-q');
    fill(top);
    const script =
      'git status --porcelain && git log --oneline && echo more >> part && git diff && cat ../file';
    const { stdout, exitCode, stderr } = await run(script);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^[0-9a-f]+ first\ndiff .*\n(.*\n)+\+more\none\n$/);
    // Negative control.
    assert.match((await run(script, closed)).stderr, /not a git repository/);
  });

  it('sees it in a linked worktree, too', async () => {
    const main = join(person.home, 'main');
    mkdirSync(main);
    host(main, 'init', '-q');
    fill(main);
    const tree = join(person.home, 'tree');
    host(main, 'worktree', 'add', '-q', tree);
    const root = join(tree, 'inner');
    mkdirSync(root);
    assert.equal(nodeMachine().repositoryAround(root), tree);
  });

  it('reads no secret of the rest, and writes nothing there', async () => {
    host(top, 'init', '-q');
    fill(top);
    const script =
      'cat ../.env; echo evil > ../file; echo evil > ../new; echo evil > ../.git/hooks/pre-commit';
    const { stdout, stderr } = await run(script);
    assert.equal(stdout, '');
    assert.match(stderr, /\.env: Permission denied\n(.*Read-only file system\n){3}$/);
    // Negative control.
    const open = { files: { '**/.env': 'read' } } as const;
    assert.equal((await run('cat ../.env', open)).stdout, 'hunter2\n');
  });

  it('commits where commands may write in .git, with its settings as they are', async () => {
    host(top, 'init', '-q');
    fill(top);
    const script =
      'echo two > part; git commit -qam second; ! echo x > ../.git/config; ! echo x > ../.git/hooks/x; ! echo x > ../file';
    const { exitCode, stderr } = await run(`set -e; ${script}`, { git: 'writable' });
    assert.equal(exitCode, 0, stderr);
    assert.match(host(top, 'log', '--oneline'), /second/);
    assert.equal(host(top, 'status', '--porcelain'), '');
    assert.notEqual((await run(`set -e; ${script}`, { git: 'read-only' })).exitCode, 0);
  });

  it('opens no home folder that is a repository itself', async () => {
    writeFileSync(join(person.home, 'letter'), 'hunter2\n');
    host(person.home, 'init', '-q');
    assert.equal((await run('cat ../../letter; git log')).stdout, '');
    // Negative control.
    assert.equal((await run('cat ../../letter', { files: { ':home': 'read' } })).stdout, 'hunter2\n');
  });

  const plants: Readonly<Record<string, (vault: string) => void>> = {
    'a pointer': (vault) => writeFileSync(join(top, '.git'), `gitdir: ${vault}\n`),
    'a link': (vault) => symlinkSync(vault, join(top, '.git')),
    'a folder that only has the name': () => mkdirSync(join(top, '.git')),
  };
  for (const [name, plant] of Object.entries(plants)) {
    it(`opens nothing for ${name}`, async () => {
      const vault = join(person.home, 'vault');
      mkdirSync(vault);
      host(vault, 'init', '-q', '--bare');
      writeFileSync(join(vault, 'key'), 'hunter2\n');
      writeFileSync(join(top, 'letter'), 'hunter2\n');
      plant(vault);
      const script = 'cat ../letter; cat ../../vault/key';
      for (const git of ['read-only', 'writable'] as const) {
        assert.equal((await run(script, { git })).stdout, '');
      }
      // Negative control.
      const open = { files: { [top]: 'read', [vault]: 'read' } } as const;
      assert.equal((await run(script, open)).stdout, 'hunter2\nhunter2\n');
    });
  }
});
