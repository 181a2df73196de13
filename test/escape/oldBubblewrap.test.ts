import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helpOf, optionsOf } from '../harness/bubblewrapVersions.ts';
import { Arena, writableMachine } from './harness.ts';

const real = execFileSync('/bin/sh', ['-c', 'command -v bwrap || true'], { encoding: 'utf8' }).trim();

/** A bubblewrap that refuses, as an old one does, what that version does not know; it tells what `claimed` can. */
function writeWrapper(folder: string, version: string, claimed = version): void {
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh
case "$1" in
  --help) cat <<'END'
${helpOf(claimed)}END
    exit 0 ;;
  --version) echo 'bubblewrap ${claimed}'; exit 0 ;;
esac
for word in "$@"; do
  case "$word" in
    --) break ;;
    ${optionsOf(version).join('|')}) ;;
    --*) echo "bwrap: Unknown option $word" >&2; exit 1 ;;
  esac
done
exec ${real} "$@"
`;
  writeFileSync(join(folder, 'bwrap'), script);
  chmodSync(join(folder, 'bwrap'), 0o755);
}

for (const version of ['0.4.0', '0.5.0', '0.6.0']) {
  for (const mountedBy of ['the companion', 'bubblewrap'] as const) {
    describe(`With the options of bubblewrap ${version}, where ${mountedBy} makes the mounts,`, function () {
      before(function () {
        if (process.platform !== 'linux' || real === '') this.skip();
      });

      let arena: Arena;
      beforeEach(() => {
        const places = new Arena();
        const old = join(places.folder, 'old');
        writeWrapper(old, version);
        arena = new Arena(
          {},
          { searchPath: old, ...(mountedBy === 'bubblewrap' && { mountedBy: 'bubblewrap' }) },
          places.folder,
        );
      });
      afterEach(() => arena.dispose());

      it('a command is confined as with a new one', async () => {
        const secret = join(arena.outside, 'secret');
        mkdirSync(secret);
        writeFileSync(join(secret, 'key'), 'hunter2');
        const script = `echo ran; cat ${secret}/key; echo evil > ${arena.outside}/new; echo evil > .git/config; unshare -U true; ls /sys/class/net; (exec 3<>/dev/tcp/127.0.0.1/9)`;
        const policy = arena.policy({ files: { [secret]: 'none' } });
        const outcome = await arena.run(['/bin/bash', '-c', script], {}, policy);
        assert.match(outcome.stdout, /^ran\n/);
        assert.doesNotMatch(outcome.stdout, /hunter2/);
        assert.match(outcome.stderr, /key: (Permission denied|No such file)/);
        assert.match(outcome.stderr, /new: Read-only file system/);
        assert.match(outcome.stderr, /\.git\/config: (Read-only file system|Permission denied)/);
        assert.match(outcome.stderr, /unshare.*failed/);
        assert.equal(existsSync(join(arena.root, '.git')), false);
        // Negative control.
        const without = writableMachine;
        const open = await arena.shell(`echo evil > ${arena.outside}/new`, { without });
        assert.equal(open.exitCode, 0, open.stderr);
      });
    });
  }
}

describe('A bubblewrap that knows less than it tells', function () {
  before(function () {
    if (process.platform !== 'linux' || real === '') this.skip();
  });

  it('is refused, and nothing runs', async () => {
    const places = new Arena();
    const old = join(places.folder, 'old');
    writeWrapper(old, '0.4.0', '0.8.0');
    const arena = new Arena({}, { searchPath: old, mountedBy: 'bubblewrap' });
    const env = { PATH: '/usr/bin:/bin' };
    const command = { argv: ['true'], cwd: arena.root, env, tty: false };
    const launch = await arena.manager.transform(arena.policy(), command);
    assert.ok(!launch.ok && /Unknown option --/.test(launch.error.message), JSON.stringify(launch));
    arena.dispose();
    places.dispose();
  });
});
