import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  at,
  contextOf,
  inFolder,
  pattern,
  place,
  readOnly,
  workspaceWrite,
} from '../harness/sandboxContexts.ts';
import { listen } from '../harness/proxyClient.ts';
import type { Recorder } from '../harness/wireTranscript.ts';
import { waitFor } from '../harness/waitFor.ts';

/** Requests that are sent to both servers, each in a folder of its own. The handshake is done unless `isBare`. */
export interface Script {
  readonly name: string;
  readonly isBare?: boolean;
  run(recorder: Recorder): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const sh = (script: string): { readonly argv: readonly string[] } => ({ argv: ['/bin/sh', '-c', script] });

export const scripts: readonly Script[] = [
  {
    name: 'handshake',
    isBare: true,
    async run(it) {
      const { client } = it;
      await it.call('exec before initialize', 'process/read', { processId: 'x' });
      await it.call('status before initialize', 'environment/status');
      await it.call('files before initialize', 'fs/readFile', { path: 'file:///x' });
      await it.call('bad params before initialize', 'process/read', {});
      await it.call('unknown before initialize', 'no/such');
      await it.call('initialize without a name', 'initialize', {});
      await it.call('resume nothing', 'initialize', { clientName: 't', resumeSessionId: 'nothing' });
      await it.call('resume unknown', 'initialize', {
        clientName: 't',
        resumeSessionId: '00000000-0000-4000-8000-000000000000',
      });
      const { result } = await client.call('initialize', { clientName: 't', resumeSessionId: null });
      it.note('initialize', Object.keys(result ?? {}).sort());
      await it.call('exec before initialized', 'process/read', { processId: 'x' });
      await it.call('initialized as request', 'initialized', {});
      client.send({ method: 'initialized' });
      await it.call('initialize again', 'initialize', { clientName: 't' });
      await it.call('status', 'environment/status');
      await it.call('status with null', 'environment/status', null);
      client.send({ method: 'initialized' });
      await it.call('after a second initialized', 'environment/status');
      it.note('closed', client.isClosed);
      client.send({ method: 'no/such' });
      await waitFor('the end of the connection', () => client.isClosed);
    },
  },
  {
    name: 'environment',
    async run(it) {
      const { result } = await it.client.call('environment/info', {});
      const kinds = (value: unknown): unknown =>
        Array.isArray(value)
          ? 'list'
          : value !== null && typeof value === 'object'
            ? fieldsOf(value)
            : typeof value;
      const fieldsOf = (value: object): unknown =>
        Object.fromEntries(Object.entries(value).map(([name, field]) => [name, kinds(field)]));
      const { shell, platformOs, userHomeDir, cwd } = result ?? {};
      it.note('kinds', kinds(result));
      it.note('values', { shell, platformOs, userHomeDir, cwd });
      await it.call('with params', 'environment/info', { x: 1 });
    },
  },
  {
    name: 'envelope',
    async run(it) {
      const raw = async (label: string, text: string): Promise<void> => {
        const before = it.client.notes.length;
        it.client.transport.send(text);
        const answer = await waitFor('an answer', () => it.client.notes[before]);
        it.note(label, { id: answer.id, result: answer.result, code: answer.error?.code });
      };
      await raw('no JSON', 'nonsense');
      await raw('an empty object', '{}');
      await raw('a batch', '[{"id":1,"method":"environment/status"}]');
      await raw('a fraction for an id', '{"id":1.5,"method":"environment/status"}');
      await raw('null for an id', '{"id":null,"method":"environment/status"}');
      await raw('a text for an id', '{"id":"x","method":"environment/status"}');
      await raw('an empty id', '{"id":"","method":"environment/status"}');
      await raw('a large id', '{"id":9007199254740991,"method":"environment/status"}');
      await raw('jsonrpc', '{"jsonrpc":"2.0","id":"y","method":"environment/status","more":1}');
      await raw('trace that is none', '{"id":"z","method":"environment/status","trace":5}');
      await raw('a bad traceparent', '{"id":"a","method":"environment/status","trace":{"traceparent":"x"}}');
      await raw('no method', '{"id":"b"}');
      it.note('closed', it.client.isClosed);
    },
  },
  {
    name: 'starts that fail',
    async run(it) {
      writeFileSync(join(it.folder, 'plain'), 'not executable', { mode: 0o644 });
      writeFileSync(join(it.folder, 'nonsense'), '\0\0\0\0', { mode: 0o755 });
      const run = (label: string, argv: readonly string[], more: object = {}) =>
        it.run(label, { argv, ...more });
      await run('no argv', []);
      await run('empty program', ['']);
      await run('missing program', ['/no/such']);
      await run('missing on PATH', ['no-such-program']);
      await run('missing relative', ['./no-such']);
      await run('not executable', [join(it.folder, 'plain')]);
      await run('a folder', ['/usr']);
      await run('NUL', ['/bin/echo', 'a\0b']);
      await run('NUL in env', ['/bin/echo'], { env: { A: 'a\0b' } });
      await run('too long', ['/bin/echo', 'x'.repeat(3_000_000)]);
      await run('missing cwd', ['/bin/true'], { cwd: it.uri('nowhere') });
      await run('cwd is a file', ['/bin/true'], { cwd: it.uri('plain') });
      await run('cwd is plain', ['/bin/true'], { cwd: '/' });
      await run('cwd elsewhere', ['/bin/true'], { cwd: 'file://host/x' });
      await run('cwd with http', ['/bin/true'], { cwd: 'http://x/' });
      await run('missing on a terminal', ['/no/such'], { tty: true });
      await it.call('without env', 'process/start', {
        processId: 'x',
        argv: ['/bin/true'],
        cwd: 'file:///',
        tty: false,
      });
      await it.call('without tty', 'process/start', {
        processId: 'x',
        argv: ['/bin/true'],
        cwd: 'file:///',
        env: {},
      });
      await run('an id again', ['/bin/true']);
      await run('an id again', ['/bin/true']);
      await run('an empty id', ['/bin/true'], { processId: '' });
    },
  },
  {
    name: 'pipes',
    async run(it) {
      await it.run('both streams', sh('echo out; echo err >&2; exit 3'));
      await it.run('nothing', sh('exit 0'));
      await it.run('bytes', sh(String.raw`printf 'a\0b\303\244'`));
      await it.run('signal', sh('kill -TERM $$'));
      await it.run('stdin is empty', sh('cat; echo end'));
      await it.run(
        'streams as files',
        sh('echo out > /dev/stdout; echo err > /dev/stderr; echo x | cat /dev/stdin'),
      );
      await it.run('descriptors', sh('ls /proc/self/fd | wc -l'));
      await it.run('session', sh('test "$(cut -d" " -f5,6 /proc/$$/stat)" = "$$ $$" && echo leads'));
      await it.run('arg0', { argv: ['/bin/sh', '-c', 'echo $0'], arg0: 'other' });
      await it.run('folder', { argv: ['/bin/pwd'], cwd: 'file://localhost/usr/../tmp' });
      await it.run('encoded folder', { argv: ['/bin/pwd'], cwd: 'file:///%74mp' });
      await it.run('background', sh('(sleep 0.3; echo late) & echo now'));
      await it.run('flood', sh('head -c 300000 /dev/zero | tr "\\0" x'));
      await it.run('ignored signals', sh('grep -E "^Sig(Ign|Blk)" /proc/self/status'));
    },
  },
  {
    name: 'terminals',
    async run(it) {
      const tty = true;
      await it.run('size', { ...sh('stty size; tty | grep -c /dev/pts; stty -a | grep -c " echo "'), tty });
      await it.run('input', { ...sh('read line; echo "<$line>"'), tty }, async (processId) => {
        await it.call('write', 'process/write', { processId, chunk: base64('hello\n'), writeId: '1' });
        await it.call('write again', 'process/write', { processId, chunk: base64('hello\n'), writeId: '1' });
      });
      await it.run('end of input', { argv: ['/bin/cat'], tty }, async (processId) => {
        await it.call('four', 'process/write', { processId, chunk: base64('\u0004'), writeId: '1' });
      });
      await it.run(
        'Ctrl-C',
        { ...sh('trap "echo caught; exit 7" INT; echo ready; read x'), tty },
        async (processId) => {
          await it.said(processId, 'ready');
          await it.call('three', 'process/write', { processId, chunk: base64('\u0003'), writeId: '1' });
        },
      );
      await it.run('killed by a signal', { ...sh('kill -KILL $$'), tty });
      await it.run('terminated', { ...sh('echo ready; sleep 60'), tty }, async (processId) => {
        await it.said(processId, 'ready');
        await it.call('terminate', 'process/terminate', { processId });
      });
      await it.run('environment', { argv: ['/usr/bin/env'], tty, env: { A: '1' } });
    },
  },
  {
    name: 'signals and ends',
    async run(it) {
      const interrupt = (processId: string) =>
        it.call(`${processId}: interrupt`, 'process/signal', { processId, signal: 'interrupt' });
      // Not started by the shell, which at that moment would keep the interrupt to itself.
      await it.run('default', sh('echo ready; exec sleep 60'), async (processId) => {
        await it.said(processId, 'ready');
        await interrupt(processId);
      });
      await it.run(
        'trap',
        sh('trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done'),
        async (id) => {
          await it.said(id, 'ready');
          await interrupt(id);
        },
      );
      await it.run('terminate', sh('trap "" TERM INT; echo ready; sleep 60'), async (processId) => {
        await it.said(processId, 'ready');
        await it.call('terminate running', 'process/terminate', { processId });
      });
      await it.call('terminate ended', 'process/terminate', { processId: 'terminate' });
      await it.call('terminate unknown', 'process/terminate', { processId: 'unknown' });
      await interrupt('terminate');
      await interrupt('unknown');
      await it.call('other signal', 'process/signal', { processId: 'unknown', signal: 'terminate' });
    },
  },
  {
    name: 'reads and writes',
    async run(it) {
      // The peer may number an exit before output that was written just before it.
      await it.run('output', sh('echo one; sleep 0.2; echo two; sleep 0.2'));
      const read = (label: string, params: object) =>
        it.call(label, 'process/read', { processId: 'output', ...params });
      await read('all', {});
      await read('after one', { afterSeq: 1 });
      await read('after all', { afterSeq: 100 });
      await read('few bytes', { maxBytes: 1 });
      await read('no bytes', { maxBytes: 0 });
      await read('with nulls', { afterSeq: null, maxBytes: null, waitMs: null });
      await read('negative', { afterSeq: -1 });
      await read('unknown', { processId: 'unknown' });
      await it.run('input', { argv: ['/bin/cat'], pipeStdin: true }, async (processId) => {
        await it.call('nothing yet', 'process/read', { processId, waitMs: 50 });
        const write = (label: string, params: object) =>
          it.call(label, 'process/write', { processId, chunk: base64('a'), writeId: '1', ...params });
        await write('write', {});
        await write('write twice', { chunk: base64('b') });
        await write('empty', { chunk: '', writeId: '2' });
        await write('no base64', { chunk: '***', writeId: '3' });
        await write('no writeId', { writeId: '' });
        await it.said(processId, 'a');
        await it.call('terminate', 'process/terminate', { processId });
        await it.client.closed(processId);
      });
      await it.run('closed input', sh('sleep 0.2'), async (processId) => {
        await it.call('write without', 'process/write', { processId, chunk: base64('a'), writeId: '1' });
      });
      await it.call('write unknown', 'process/write', {
        processId: 'unknown',
        chunk: base64('a'),
        writeId: '1',
      });
    },
  },
  {
    name: 'environments of children',
    async run(it) {
      const run = (label: string, envPolicy: unknown, env: object = {}) =>
        it.run(label, {
          ...sh('/usr/bin/env | /usr/bin/sort | /usr/bin/grep -v -E "^(PWD|SHLVL|_)="'),
          env,
          envPolicy,
        });
      const policy = {
        inherit: 'none',
        ignoreDefaultExcludes: true,
        exclude: [],
        set: {},
        includeOnly: [],
      };
      await run('exactly env', null, { A: '1', B: '' });
      await run('none', policy, { A: '1' });
      // Its search path has helpers in front, which are each server's own.
      await run('core', { ...policy, inherit: 'core' }, { PATH: '/usr/bin:/bin' });
      await run('set and exclude', {
        ...policy,
        set: { KEEP: '1', DROP: '2', MY_TOKEN: '3' },
        exclude: ['drop'],
      });
      await run('default excludes', {
        ...policy,
        ignoreDefaultExcludes: false,
        set: { MY_TOKEN: '3', B: '4' },
      });
      await run(
        'include only',
        { ...policy, set: { KEEP: '1', OTHER: '2' }, includeOnly: ['K*'] },
        { A: '1' },
      );
      await run('incomplete', { inherit: 'all' });
      await run('unknown word', { ...policy, inherit: 'some' });
    },
  },
  {
    name: 'files',
    async run(it) {
      const { folder } = it;
      const call = (label: string, method: string, params: object) => it.call(label, `fs/${method}`, params);
      const inside = (name: string) => ({ path: it.uri(name) });
      writeFileSync(join(folder, 'file'), 'content');
      mkdirSync(join(folder, 'folder/below'), { recursive: true });
      writeFileSync(join(folder, 'folder/below/deep'), 'deep');
      symlinkSync('file', join(folder, 'link'));
      symlinkSync('folder', join(folder, 'folder link'));
      symlinkSync('nowhere', join(folder, 'dangling'));
      execFileSync('mkfifo', [join(folder, 'fifo')]);
      utimesSync(join(folder, 'file'), 1_000_000, 1_000_000);
      for (const name of ['file', 'link', 'folder', 'fifo', 'dangling', 'missing', 'file/below']) {
        await call(`read ${name}`, 'readFile', inside(name));
        await call(`read ${name} itself`, 'readFile', { ...inside(name), followSymlinks: false });
        await call(`canonical ${name}`, 'canonicalize', inside(name));
        await call(`list ${name}`, 'readDirectory', inside(name));
      }
      for (const name of ['file', 'link', 'folder', 'fifo', 'dangling', 'missing', 'folder link']) {
        for (const followSymlinks of [true, false]) {
          const { result, error } = await it.client.call('fs/getMetadata', {
            ...inside(name),
            followSymlinks,
          });
          const known = result && {
            ...result,
            createdAtMs: Number(result['createdAtMs']) > 0,
            modifiedAtMs: name === 'file' ? result['modifiedAtMs'] : 'some',
          };
          const size = result?.['isDirectory'] === true ? 'some' : result?.['size'];
          it.note(`metadata ${name} ${followSymlinks}`, known ? { ...known, size } : error?.code);
        }
      }
      await call('write new', 'writeFile', { ...inside('new'), dataBase64: base64('new') });
      await call('write over', 'writeFile', { ...inside('new'), dataBase64: base64('n') });
      await call('write through a link', 'writeFile', { ...inside('link'), dataBase64: base64('linked') });
      await call('write a link itself', 'writeFile', {
        ...inside('link'),
        dataBase64: base64('x'),
        followSymlinks: false,
      });
      await call('write dangling', 'writeFile', { ...inside('dangling'), dataBase64: base64('made') });
      await call('write folder', 'writeFile', { ...inside('folder'), dataBase64: '' });
      await call('write without parent', 'writeFile', { ...inside('no/parent'), dataBase64: '' });
      await call('write no base64', 'writeFile', { ...inside('new'), dataBase64: '***' });
      await call('write nothing', 'writeFile', inside('new'));
      it.note(
        'written',
        ['new', 'file', 'nowhere'].map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
      );
      await call('make', 'createDirectory', inside('made/deep'));
      await call('make again', 'createDirectory', inside('made/deep'));
      await call('make once more', 'createDirectory', { ...inside('made/deep'), recursive: false });
      await call('make without parent', 'createDirectory', { ...inside('no/parent'), recursive: false });
      await call('make over a file', 'createDirectory', inside('file'));
      await call('copy file', 'copy', copying(it, 'file', 'copied', false));
      await call('copy over', 'copy', copying(it, 'new', 'copied', false));
      await call('copy folder', 'copy', copying(it, 'folder', 'copied folder', false));
      await call('copy tree', 'copy', copying(it, 'folder', 'copied folder', true));
      await call('copy tree again', 'copy', copying(it, 'folder', 'copied folder', true));
      await call('copy into itself', 'copy', copying(it, 'folder', 'folder/again', true));
      await call('copy missing', 'copy', copying(it, 'missing', 'x', false));
      await call('copy fifo', 'copy', copying(it, 'fifo', 'x', false));
      await call('copy link', 'copy', copying(it, 'link', 'copied link', false));
      await call('remove file', 'remove', inside('copied'));
      await call('remove link', 'remove', inside('folder link'));
      await call('remove missing', 'remove', inside('missing'));
      await call('remove missing by force', 'remove', { ...inside('missing'), force: false });
      await call('remove full', 'remove', { ...inside('made'), recursive: false });
      await call('remove tree', 'remove', inside('made'));
      await call('remove itself', 'remove', { ...inside('copied folder'), followSymlinks: false });
      await call('remove itself alone', 'remove', {
        ...inside('link'),
        followSymlinks: false,
        recursive: false,
      });
      it.note('left', readdirSync(folder).sort());
      await call('plain path', 'readFile', { path: '/etc/hosts' });
      await call('no path', 'readFile', {});
      await call('other host', 'readFile', { path: 'file://host/x' });
    },
  },
  {
    name: 'handles',
    async run(it) {
      const call = (label: string, method: string, params: object) => it.call(label, `fs/${method}`, params);
      writeFileSync(join(it.folder, 'file'), 'content');
      await call('open', 'open', { path: it.uri('file'), handleId: 'r' });
      await call('open again', 'open', { path: it.uri('file'), handleId: 'r' });
      await call('read', 'readBlock', { handleId: 'r', offset: 0, len: 4 });
      await call('read to the end', 'readBlock', { handleId: 'r', offset: 4, len: 100 });
      await call('read beyond', 'readBlock', { handleId: 'r', offset: 100, len: 4 });
      await call('read nothing', 'readBlock', { handleId: 'r', offset: 0, len: 0 });
      await call('read much', 'readBlock', { handleId: 'r', offset: 0, len: 1_048_577 });
      await call('write to a reader', 'writeBlock', { handleId: 'r', offset: 0, chunk: base64('x') });
      await call('read after that', 'readBlock', { handleId: 'r', offset: 0, len: 4 });
      await call('replace', 'open', { path: it.uri('written'), handleId: 'w', mode: 'replace' });
      await call('write', 'writeBlock', { handleId: 'w', offset: 0, chunk: base64('ab') });
      await call('write beyond', 'writeBlock', { handleId: 'w', offset: 4, chunk: base64('c') });
      await call('write nothing', 'writeBlock', { handleId: 'w', offset: 0, chunk: '' });
      await call('close', 'close', { handleId: 'w' });
      await call('close again', 'close', { handleId: 'w' });
      await call('write closed', 'writeBlock', { handleId: 'w', offset: 0, chunk: base64('x') });
      it.note('written', base64(readFileSync(join(it.folder, 'written'), 'latin1')));
      await call('open missing', 'open', { path: it.uri('missing'), handleId: 'm' });
      await call('open folder', 'open', { path: it.uri(), handleId: 'f' });
      await call('long id', 'open', { path: it.uri('file'), handleId: 'x'.repeat(33) });
      await call('unknown mode', 'open', { path: it.uri('file'), handleId: 'u', mode: 'append' });
    },
  },
  {
    name: 'walks and watches',
    async run(it) {
      const { folder } = it;
      for (const name of ['b/two', 'a/one', '.hidden/three']) {
        mkdirSync(join(folder, name), { recursive: true });
        writeFileSync(join(folder, name, 'file'), '');
      }
      symlinkSync('a', join(folder, 'link'));
      const options = { maxDepth: 10, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };
      const walk = (label: string, more: object, path = it.uri()) =>
        it.call(label, 'fs/walk', { path, options: { ...options, ...more } });
      await walk('all', {});
      await walk('following', { followDirectorySymlinks: true });
      await walk('without hidden', { pruneHiddenDirectories: true });
      await walk('shallow', { maxDepth: 1 });
      await walk('few folders', { maxDirectories: 2 });
      await walk('few entries', { maxEntries: 3 });
      await walk('too deep', { maxDepth: 65 });
      await walk('no depth', { maxDepth: 0 });
      await walk('a file', {}, it.uri('a/one/file'));
      await walk('missing', {}, it.uri('missing'));
      await it.call('no options', 'fs/walk', { path: it.uri() });
      const watch = (label: string, params: object) => it.call(label, 'fs/watchMissing', params);
      await watch('watch', { watchId: 1, missing: [it.uri('x/y')], present: it.uri('a') });
      await watch('same id', { watchId: 1, missing: [it.uri('x/y')] });
      await watch('nothing', { watchId: 2, missing: [] });
      await watch('not missing', { watchId: 3, missing: [it.uri('a')] });
      await watch('not present', { watchId: 4, missing: [it.uri('x')], present: it.uri('z') });
      await watch('once more', { watchId: 5, missing: [it.uri('x/y')] });
      mkdirSync(join(folder, 'x'));
      const changed = await waitFor('the word', () =>
        it.client.notes.find(({ method }) => method === 'fs/missingChanged'),
      );
      it.note('changed', changed);
    },
  },
  {
    name: 'http',
    async run(it) {
      const server = createServer((request, response) => {
        if (request.url === '/redirect') {
          response.writeHead(302, { location: '/end', date: 'then' }).end();
          return;
        }
        const { method, url, headers } = request;
        request.toArray().then(
          (body) => {
            const { accept, 'accept-encoding': encoding, 'x-mine': mine } = headers;
            response.writeHead(200, { date: 'then', 'x-answer': 'yes' });
            response.end(
              JSON.stringify({ method, url, accept, encoding, mine, body: Buffer.concat(body).toString() }),
            );
          },
          () => response.destroy(),
        );
      });
      const port = await listen(server);
      const call = async (label: string, params: object): Promise<void> => {
        const request = { method: 'GET', url: `http://127.0.0.1:${port}/x`, requestId: label, ...params };
        const { result, error } = await it.client.call('http/request', request);
        const { status, headers, bodyBase64 } = result ?? {};
        const names = (headers as readonly { name: string; value: string }[] | undefined)
          ?.filter(({ name }) => name.startsWith('x-'))
          .map(({ name, value }) => `${name}: ${value}`);
        const body =
          typeof bodyBase64 === 'string' ? Buffer.from(bodyBase64, 'base64').toString() : undefined;
        it.note(label, error === undefined ? { status, headers: names, body } : { code: error.code });
      };
      await call('get', {});
      await call('post', {
        method: 'POST',
        bodyBase64: base64('body'),
        headers: [{ name: 'X-Mine', value: '1' }],
      });
      await call('redirect', { url: `http://127.0.0.1:${port}/redirect` });
      await call('stop', { url: `http://127.0.0.1:${port}/redirect`, redirectPolicy: 'stop' });
      await call('refused', { url: 'http://127.0.0.1:1/' });
      await call('other scheme', { url: 'ftp://127.0.0.1/' });
      await call('no URL', { url: 'nonsense' });
      await call('bad method', { method: 'A B' });
      await call('bad header', { headers: [{ name: 'a b', value: 'x' }] });
      await call('no variable', { headers: [{ name: 'a', value: 'x', valueEnvVar: 'NO_SUCH_VARIABLE' }] });
      await call('null policy', { redirectPolicy: null });
      await call('streamed', { streamResponse: true });
      await waitFor('the end of the stream', () =>
        it.client.notes.some(({ params }) => params?.['done'] === true),
      );
      it.note(
        'deltas',
        Buffer.concat(
          it.client.notes.map(({ params }) =>
            Buffer.from((params?.['deltaBase64'] ?? '') as string, 'base64'),
          ),
        )
          .toString()
          .replaceAll(String(port), '<port>'),
      );
      server.close();
      server.closeAllConnections();
    },
  },
  {
    name: 'sandboxes',
    async run(it) {
      mkdirSync(join(it.folder, 'root/.git'), { recursive: true });
      mkdirSync(join(it.folder, 'secret'));
      writeFileSync(join(it.folder, 'secret/file'), 'secret');
      const root = join(it.folder, 'root');
      const folders = inFolder(root);
      const inRoot = workspaceWrite.filter((entry) => !/slash_tmp|tmpdir/.test(JSON.stringify(entry)));
      const box = (entries: Parameters<typeof contextOf>[0], more: object = {}) => ({
        cwd: it.uri('root'),
        sandbox: contextOf(entries, { ...folders, ...more }),
      });
      const write = box(inRoot);
      await it.run('inside', { ...sh('echo x > written && cat written'), ...write });
      await it.run('outside', { ...sh(`echo x > ${it.folder}/denied`), ...write });
      await it.run('repository', { ...sh('echo x > .git/config'), ...write });
      await it.run('denied', {
        ...sh(`cat ${it.folder}/secret/file`),
        ...box([...inRoot, at(join(it.folder, 'secret'), 'deny')]),
      });
      await it.run('denied glob', {
        ...sh(`cat ${it.folder}/secret/file`),
        ...box([...inRoot, pattern(`${it.folder}/secret/*`)]),
      });
      await it.run('read-only', { ...sh('echo x > no'), ...box(readOnly) });
      await it.run('failure without denial', { ...sh('exit 4'), ...write });
      await it.run('exit 2', { ...sh('exit 2'), ...write });
      await it.run('keyword', { ...sh('echo Permission denied; exit 2'), ...write });
      await it.run('keyword and success', { ...sh('echo Permission denied'), ...write });
      await it.run('missing program', { argv: ['/no/such'], ...write });
      await it.run('not executable', { argv: [`${it.folder}/secret/file`], ...write });
      await it.run('missing cwd', { argv: ['/bin/true'], ...write, cwd: it.uri('nowhere') });
      await it.run('killed', { ...sh('kill -KILL $$'), ...write });
      await it.run('background', { ...sh('(sleep 30; echo late) & echo now'), ...write });
      await it.run('arg0', { argv: ['/bin/sh', '-c', 'echo $0'], arg0: 'other', ...write });
      await it.run('terminal', { ...sh('stty size; exit 3'), tty: true, ...write });
      await it.run('terminated', { ...sh('echo ready; sleep 60'), ...write }, async (processId) => {
        await it.said(processId, 'ready');
        await it.call('terminate', 'process/terminate', { processId });
      });
      await it.run('streams as files', { ...sh('echo out > /dev/stdout; echo err > /dev/stderr'), ...write });
      await it.run('network', { ...sh('grep -c : /proc/net/dev'), ...write });
      await it.run('disabled', {
        ...sh(`echo x > ${it.folder}/free`),
        sandbox: { ...write.sandbox, permissions: { type: 'disabled' } },
      });
      await it.run('external', {
        ...sh('exit 1'),
        sandbox: { ...write.sandbox, permissions: { type: 'external', network: 'restricted' } },
      });
      await it.run('no level', {
        ...sh('true'),
        sandbox: { ...write.sandbox, windowsSandboxLevel: undefined },
      });
      await it.run('unknown access', {
        ...sh('true'),
        ...malformed(write.sandbox, { path: { type: 'path', path: 'file:///' }, access: 'all' }),
      });
      await it.run('unknown place', {
        ...sh('true'),
        ...malformed(write.sandbox, { path: { type: 'special', value: { kind: 'home' } }, access: 'read' }),
      });
      await it.run('no root', { ...sh('echo x > no'), cwd: it.uri('root'), sandbox: contextOf(inRoot) });
      it.note('free', existsSync(join(it.folder, 'free')));
    },
  },
  {
    name: 'files in sandboxes',
    async run(it) {
      mkdirSync(join(it.folder, 'root/.git'), { recursive: true });
      writeFileSync(join(it.folder, 'outside'), 'outside');
      linkSync(join(it.folder, 'outside'), join(it.folder, 'twin'));
      symlinkSync('../outside', join(it.folder, 'root/link'));
      const sandbox = contextOf(
        workspaceWrite.filter((entry) => !/slash_tmp|tmpdir/.test(JSON.stringify(entry))),
        inFolder(join(it.folder, 'root')),
      );
      const call = (label: string, method: string, name: string, more: object = {}) =>
        it.call(label, `fs/${method}`, { path: it.uri(name), sandbox, ...more });
      const dataBase64 = base64('x');
      await call('write inside', 'writeFile', 'root/new', { dataBase64 });
      await call('write outside', 'writeFile', 'outside', { dataBase64 });
      await call('write new outside', 'writeFile', 'other', { dataBase64 });
      await call('write through a link', 'writeFile', 'root/link', { dataBase64 });
      await call('write to the repository', 'writeFile', 'root/.git/config', { dataBase64 });
      await call('read outside', 'readFile', 'outside');
      await call('make outside', 'createDirectory', 'folder');
      await call('make inside', 'createDirectory', 'root/folder');
      await call('remove outside', 'remove', 'outside');
      await call('remove inside', 'remove', 'root/new');
      await it.call('copy out', 'fs/copy', { ...copying(it, 'root/link', 'copied', false), sandbox });
      await it.call('open outside', 'fs/open', {
        path: it.uri('outside'),
        handleId: 'o',
        mode: 'replace',
        sandbox,
      });
      await it.call('open inside', 'fs/open', {
        path: it.uri('root/opened'),
        handleId: 'i',
        mode: 'replace',
        sandbox,
      });
      it.note('outside', readFileSync(join(it.folder, 'outside'), 'utf8'));
      it.note('there', readdirSync(it.folder).sort());
      const denied = contextOf(
        [place('root', 'read'), at(join(it.folder, 'outside'), 'deny')],
        inFolder(join(it.folder, 'root')),
      );
      await it.call('read denied', 'fs/readFile', { path: it.uri('outside'), sandbox: denied });
      const { result } = await it.client.call('fs/getMetadata', { path: it.uri('outside'), sandbox: denied });
      it.note('look at denied', result === undefined ? 'refused' : `${String(result['size'])} bytes`);
    },
  },
  {
    name: 'discovery',
    async run(it) {
      const cwd = it.uri();
      await it.call('config', 'environmentConfig/read', {
        cwd,
        configPaths: [['no_such_table']],
        requirementsPaths: [],
      });
      await it.call('no paths', 'environmentConfig/read', { cwd, configPaths: [], requirementsPaths: [] });
      await it.call('no cwd', 'environmentConfig/read', { configPaths: [['x']], requirementsPaths: [] });
      await it.call('roots', 'capabilityRoots/discoverV1', { roots: [] });
      await it.call('bad roots', 'capabilityRoots/discoverV1', {});
      await it.call('a root', 'capabilityRoots/discoverV1', { roots: [{ id: 'r', path: it.uri() }] });
      await it.call('bad cwd', 'capabilities/discoverV2', {});
    },
  },
];

function copying(it: Recorder, from: string, to: string, recursive: boolean): object {
  return { sourcePath: it.uri(from), destinationPath: it.uri(to), recursive };
}

function malformed(sandbox: object, entry: object): object {
  return {
    sandbox: {
      ...sandbox,
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries: [entry] },
        network: 'restricted',
      },
    },
  };
}
