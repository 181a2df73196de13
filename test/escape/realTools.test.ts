import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import { listen } from '../harness/proxyClient.ts';
import { waitFor } from '../harness/waitFor.ts';
import { nodePath } from './harness.ts';
import { PersonsHome } from './personsHome.ts';

interface Tool {
  /** What the shell must be able to do for it, outside of the sandbox. */
  readonly needs?: readonly string[];
  /** Written into the folder in which the script runs. */
  readonly files?: Readonly<Record<string, string>>;
  readonly script: string;
  /** In its standard output. */
  readonly says: RegExp;
}

const has = (...programs: readonly string[]): string[] => programs.map((name) => `command -v ${name}`);
const node = `'${nodePath}'`;
const chromium = '"$(command -v chromium || command -v google-chrome)"';
const hasChromium = 'command -v chromium || command -v google-chrome';
// Its own sandbox cannot be made inside of another, and its profile would lie in the hidden home.
const chromiumFlags = '--headless --no-sandbox --user-data-dir=/tmp/profile';
const retry = 'retry() { for _ in $(seq 300); do "$@" && return; sleep 0.05; done; return 1; }';
const pyproject = `[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
`;
const pythonBackend = `import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = 'tiny-1.0-py3-none-any.whl'
    with zipfile.ZipFile(folder + '/' + name, 'w') as wheel:
        wheel.write('tiny.py')
        wheel.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
        wheel.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr('tiny-1.0.dist-info/RECORD', '')
    return name
`;
const inspect = `
const [{ webSocketDebuggerUrl }] = await (await fetch('http://127.0.0.1:9229/json/list')).json();
const socket = new WebSocket(webSocketDebuggerUrl);
socket.onopen = () => socket.send('{"id":1,"method":"Runtime.evaluate","params":{"expression":"answer()"}}');
socket.onmessage = ({ data }) => { console.log(data); socket.close(); };
`;
const server = `
import { createServer } from 'node:http';
for (const place of [{ port: 8080, host: '127.0.0.1' }, { port: 8081, host: '::1' }, { path: 'dev.sock' }])
  createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<p>served</p>')).listen(place);
`;

const tools: Readonly<Record<string, Tool>> = {
  'cargo, offline: a build, a run and a test with a dependency by path': {
    needs: has('cargo', 'gcc'),
    files: {
      'dep/Cargo.toml': '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n',
      'dep/src/lib.rs': 'pub fn one() -> i32 { 1 }',
      'Cargo.toml':
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndep = { path = "dep" }\n',
      'src/main.rs':
        'fn main() { println!("from rust: {}", dep::one()) }\n#[test]\nfn works() { assert_eq!(dep::one(), 1) }',
    },
    script: 'cargo build --offline && cargo run -q --offline && cargo test -q --offline',
    says: /from rust: 1\n[^]*test result: ok\. 1 passed/,
  },
  'pip, offline: a project built and installed into a virtual environment': {
    needs: ['python3 -m venv --help', 'python3 -m pip --version'],
    files: { 'lib/pyproject.toml': pyproject, 'lib/backend.py': pythonBackend, 'lib/tiny.py': 'x = 7' },
    script:
      'python3 -m venv v && v/bin/pip install -q --no-index ./lib && v/bin/python -c "import tiny; print(tiny.x, tiny.__file__)"',
    says: /^7 .*\/v\/lib\/.*tiny\.py\n$/,
  },
  pytest: {
    needs: ['python3 -m pytest --version'],
    files: { 'test_it.py': 'def test_it(tmp_path):\n    (tmp_path / "x").write_text("x")\n' },
    script: 'python3 -m pytest',
    says: /1 passed/,
  },
  'processes of Python that share memory and locks': {
    needs: has('python3'),
    files: {
      'share.py': `
import mmap, os
from multiprocessing import Pool, Lock, shared_memory
def put(name):
    block = shared_memory.SharedMemory(name)
    block.buf[0] = 42
    block.close()
if __name__ == '__main__':
    block = shared_memory.SharedMemory(create=True, size=16)
    with Pool(2) as pool, Lock():
        print(sum(pool.map(abs, range(-5, 5))))
        pool.apply(put, (block.name,))
    print(block.buf[0])
    block.unlink()
    area = mmap.mmap(-1, 4096)
    child = os.fork()
    if child == 0:
        area[0:2] = b'hi'
        os._exit(0)
    os.waitpid(child, 0)
    print(area[0:2])
`,
    },
    script: 'python3 share.py',
    says: /^25\n42\nb'hi'\n$/,
  },
  'shared memory of System V': {
    needs: has('ipcmk', 'ipcs'),
    script: 'ipcmk -M 4096 && ipcs -m',
    says: /Shared memory id: \d+\n[^]*\b4096\b/,
  },
  'a dev server, on loopback and on a Unix socket': {
    needs: has('curl'),
    files: { 'server.mjs': server },
    script: `${retry}; ${node} server.mjs & retry curl -sf http://127.0.0.1:8080 && curl -sfg 'http://[::1]:8081' && curl -sf http://localhost:8080 && retry curl -sf --unix-socket dev.sock http://dev; kill %1`,
    says: /^(<p>served<\/p>){4}$/,
  },
  'Chromium without a window, on a file': {
    needs: [hasChromium],
    files: { 'page.html': '<p></p><script>document.querySelector("p").textContent = 6 * 7</script>' },
    script: `${chromium} ${chromiumFlags} --dump-dom "file://$PWD/page.html"`,
    says: /<p>42<\/p>/,
  },
  'Chromium without a window, on a dev server': {
    needs: [hasChromium, ...has('curl')],
    files: { 'server.mjs': server },
    script: `${retry}; ${node} server.mjs & retry curl -sf -o /dev/null http://127.0.0.1:8080 && ${chromium} ${chromiumFlags} --dump-dom http://127.0.0.1:8080; kill %1`,
    says: /<p>served<\/p>/,
  },
  'the inspector of Node': {
    files: {
      'program.js': 'globalThis.answer = () => 6 * 7; setInterval(() => {}, 1000)',
      'inspect.mjs': inspect,
    },
    script: `${retry}; ${node} --inspect=127.0.0.1:9229 program.js & retry ${node} inspect.mjs 2> /dev/null; kill %1`,
    says: /"value":42/,
  },
  'gdb on a program it starts': {
    needs: has('gdb', 'gcc'),
    files: { 'crash.c': '#include <stdlib.h>\nint main(void) { abort(); }\n' },
    script: 'gcc -g crash.c -o crash && gdb -batch -ex run -ex bt ./crash',
    says: /SIGABRT[^]*in main \(\) at crash\.c:2/,
  },
  'gdb on a process that runs': {
    needs: has('gdb'),
    script: 'sleep 1000 & gdb -batch -p $! -ex "info inferiors"; kill $!',
    says: /process \d+[^]*detached/,
  },
  strace: {
    needs: has('strace'),
    script: 'strace -f -o trace sh -c "cat /dev/null; true" && grep -o "execve(.*/cat" trace',
    says: /execve\(.*\/cat\n$/,
  },
  tmux: {
    needs: has('tmux'),
    script: `${retry}; SHELL=/bin/sh tmux new-session -d 'tty > shown; sleep 1000' && retry test -s shown && cat shown && tmux kill-server`,
    says: /^\/dev\/pts\/\d+\n$/,
  },
  'script, which gives a terminal': {
    needs: has('script'),
    script: `script -qec 'test -t 0 && tty' /dev/null`,
    says: /^\/dev\/pts\/\d+\r\n$/,
  },
  'make with several jobs': {
    needs: has('make'),
    // Each waits for the other.
    files: {
      Makefile: 'all: a b\na: pipe\n\techo from b > pipe\nb: pipe\n\tcat pipe\npipe:\n\tmkfifo pipe\n',
    },
    script: 'make -s -j2',
    says: /^from b\n$/,
  },
  'Java, from source and compiled': {
    needs: has('java', 'javac'),
    files: {
      'Hello.java':
        'public class Hello { public static void main(String[] a) { System.out.println("hello"); } }',
    },
    script: 'java Hello.java && javac Hello.java && java Hello',
    says: /^hello\nhello\n$/,
  },
  'the locks of SQLite': {
    needs: has('sqlite3'),
    script: `
      sqlite3 x.db 'pragma journal_mode = wal; create table t (a);'
      sqlite3 x.db 'begin exclusive' ".shell sqlite3 x.db 'insert into t values (0)' 2>&1"
      for n in 1 2 3 4; do
        (for m in 1 2 3 4 5; do sqlite3 -cmd '.timeout 60000' x.db 'insert into t values (1)'; done) &
      done
      wait; sqlite3 x.db 'select count(*) from t'`,
    says: /^wal\n.*database is locked.*\n20\n$/,
  },
  'npm and npx, offline, with a package of one’s own': {
    needs: has('npm', 'npx'),
    files: {
      'tool/package.json': '{"name":"tool","version":"1.0.0","bin":"cli.js"}',
      'tool/cli.js': '#!/usr/bin/env node\nconsole.log("the tool ran")\n',
    },
    script: `
      (cd tool && npm pack --silent) && npm init -y > /dev/null && npm pkg set scripts.test=tool &&
      npm install --silent --offline --no-audit ./tool/tool-1.0.0.tgz && npx --offline tool && npm test`,
    says: /the tool ran\n[^]*the tool ran\n$/,
  },
  'long names, deep folders, and names that are not ASCII or not even text': {
    script: `
      long=$(printf 'd%.0s' $(seq 200)); start=$PWD
      for n in $(seq 25); do mkdir $long && cd -P $long || exit; done; echo deep > file; cat file
      mkdir "$start/ü" && cd "$start/ü" && echo text > '日本 語🎉' && cat *
      mkdir $'\\xff' && echo bytes > $'\\xff/\\xff' && cat $'\\xff/\\xff'`,
    says: /^deep\ntext\nbytes\n$/,
  },
  'the next command after those': { script: 'ls ..', says: /^long-names/m },
};

describe('In a person’s home with the default policy works', function () {
  let home: PersonsHome;
  before(function () {
    if (process.platform !== 'linux') this.skip();
    home = new PersonsHome({
      networkAccess: { upstream: () => undefined, lookup: async () => ['127.0.0.1'] },
    });
  });
  after(() => home?.dispose());

  function write(folder: string, files: Readonly<Record<string, string>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(home.project, folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }

  for (const [name, { needs = [], files = {}, script, says }] of Object.entries(tools)) {
    it(name, async function () {
      const missing = needs.find((command) => !succeeds(command));
      if (missing !== undefined) {
        skip(this, `fails here: ${missing}`);
      }
      const folder = nameOfFolder(name);
      write(folder, files);
      const outcome = await home.run(script, { folder });
      assert.match(outcome.stdout, says, outcome.stderr);
      assert.equal(outcome.exitCode, 0, outcome.stderr);
    }).timeout(180_000);
  }

  it('TypeScript and esbuild of a project', async () => {
    for (const name of ['typescript', 'esbuild', '@esbuild']) {
      const source = join(import.meta.dirname, '../../node_modules', name);
      cpSync(source, join(home.project, 'bundle/node_modules', name), { recursive: true });
    }
    write('bundle', {
      'a.ts': 'import { x } from "./b.ts";\nconst y: number = x;\nexport const z = `from b: ${y}`;\n',
      'b.ts': 'export const x: number = 5;\n',
      'main.ts': 'import { z } from "./a.ts";\nconsole.log(z);\n',
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          allowImportingTsExtensions: true,
          module: 'esnext',
          moduleResolution: 'bundler',
          lib: ['esnext', 'dom'],
          types: [],
        },
        include: ['*.ts'],
      }),
    });
    const modules = 'node_modules';
    const outcome = await home.run(
      `${node} ${modules}/typescript/bin/tsc -p . && ${modules}/esbuild/bin/esbuild --bundle main.ts --outfile=out.js && ${node} out.js`,
      { folder: 'bundle' },
    );
    assert.equal(outcome.exitCode, 0, outcome.stderr + outcome.stdout);
    assert.equal(outcome.stdout, 'from b: 5\n');
  }).timeout(60_000);

  it('cargo with a crate from a registry, by an allow-list', async function () {
    if (!succeeds('command -v cargo && command -v tar')) skip(this, 'no cargo here');
    const crate = packCrate(home.elsewhere.folder);
    const files = new Map<string, Buffer | string>([['/tiny-crate-1.0.0.crate', crate]]);
    const registry = createServer(({ url = '' }, response) => {
      response.statusCode = files.has(url) ? 200 : 404;
      response.end(files.get(url));
    });
    const port = await listen(registry);
    const cksum = createHash('sha256').update(crate).digest('hex');
    files.set(
      '/index/ti/ny/tiny-crate',
      JSON.stringify({ name: 'tiny-crate', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false }),
    );
    files.set(
      '/index/config.json',
      JSON.stringify({ dl: `http://crates.test:${port}/{crate}-{version}.crate` }),
    );
    write('from-registry', {
      'Cargo.toml':
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntiny-crate = { version = "1", registry = "near" }\n',
      'src/main.rs': 'fn main() { println!("from the crate: {}", tiny_crate::one()) }',
    });
    const script = `export CARGO_NET_RETRY=0 CARGO_REGISTRIES_NEAR_INDEX=sparse+http://crates.test:${port}/index/; cargo run -q`;
    const user = (hosts: readonly string[]): PolicyInput['user'] => ({
      network: 'allow-list',
      hosts: Object.fromEntries(hosts.map((host) => [`${host}:${port}`, 'allow'])),
    });
    try {
      const refused = await home.run(script, { folder: 'from-registry', user: user([]) });
      assert.notEqual(refused.exitCode, 0);
      const outcome = await home.run(script, {
        folder: 'from-registry',
        user: user(['crates.test', '127.0.0.1']),
      });
      assert.equal(outcome.stdout, 'from the crate: 1\n', outcome.stderr);
    } finally {
      registry.close();
      registry.closeAllConnections();
    }
  }).timeout(120_000);

  describe('a watcher, which sees changes made by the command and by the person:', () => {
    const watchers: Readonly<
      Record<string, { readonly run: string; readonly file: string; readonly says: (word: string) => string }>
    > = {
      'inotify of Node': {
        run: `-e "const fs = require('fs'); fs.watch('.', (_, name) => console.log(name, String(fs.readFileSync(name)))); console.log('first')"`,
        file: 'watched',
        says: (word) => word,
      },
      'node --watch': {
        run: '--watch program.js',
        file: 'program.js',
        says: (word) => `console.log('${word}')`,
      },
      'node --test --watch': {
        run: '--test --test-reporter=spec --watch',
        file: 'it.test.js',
        says: (word) => `require('node:test')('${word}', () => {})`,
      },
    };
    for (const [name, { run, file, says }] of Object.entries(watchers)) {
      it(name, async () => {
        const folder = nameOfFolder(name);
        write(folder, { [file]: says('first') });
        // The command changes the file when it is told to, by another one.
        const { child, outcome } = await home.start(
          `until test -e ../go-${folder}; do sleep 0.05; done && printf %s "${says('second')}" > ${file} & exec ${node} ${run}`,
          { folder },
        );
        let seen = '';
        child.stdout?.on('data', (chunk: Buffer) => (seen += String(chunk)));
        const sees = (word: string): Promise<true> =>
          waitFor(word, () => seen.includes(word), { describe: () => seen, timeoutMs: 30_000 });
        try {
          await sees('first');
          write('.', { [`go-${folder}`]: '' });
          await sees('second');
          write(folder, { [file]: says('third') });
          await sees('third');
        } finally {
          child.kill('SIGKILL');
          await outcome;
        }
      }).timeout(120_000);
    }
  });
});

function packCrate(folder: string): Buffer {
  const source = join(folder, 'tiny-crate-1.0.0');
  mkdirSync(join(source, 'src'), { recursive: true });
  writeFileSync(
    join(source, 'Cargo.toml'),
    '[package]\nname = "tiny-crate"\nversion = "1.0.0"\nedition = "2021"\n',
  );
  writeFileSync(join(source, 'src/lib.rs'), 'pub fn one() -> i32 { 1 }');
  return execFileSync('tar', ['-cz', '-C', folder, 'tiny-crate-1.0.0']);
}

const nameOfFolder = (name: string): string => name.replaceAll(/\W+/g, '-').slice(0, 20);

function succeeds(command: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function skip(test: Mocha.Context, reason: string): never {
  if (test.test !== undefined) test.test.title += ` (${reason})`;
  return test.skip();
}
