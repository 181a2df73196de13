import { oldestNodes } from './hostWords.ts';

/**
 * Never asks anybody anything, and takes nothing along to the host: no agent, no ticket, no forwarded port, no display,
 * no tunnel. A master connection of the person's is used, but none is made, because it would keep this one's streams
 * open.
 */
const options = {
  BatchMode: 'yes',
  ClearAllForwardings: 'yes',
  ConnectTimeout: '15',
  ControlMaster: 'no',
  EscapeChar: 'none',
  ForwardAgent: 'no',
  ForwardX11: 'no',
  GSSAPIDelegateCredentials: 'no',
  PermitLocalCommand: 'no',
  RemoteCommand: 'none',
  RequestTTY: 'no',
  ServerAliveCountMax: '2',
  ServerAliveInterval: '15',
  Tunnel: 'no',
} as const;

/** The arguments of `ssh` that run a program on a host, which comes over standard input with its length. */
export function sshArguments(host: string, programBytes: number): readonly string[] {
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  // Every login shell reads this the same: no quote, line end, backslash or exclamation mark inside. Read byte by byte,
  // because what follows is not for the shell.
  const command = `sh -c 'eval "$(dd bs=1 count=${programBytes} 2>/dev/null)"'`;
  return [...settings, '--', host, command];
}

/**
 * The script that finds Node and runs a program of so many bytes, which follows on standard input. It answers in the
 * words of `hostWords.ts` when it cannot.
 */
export function launchScript(word: string, programBytes: number, nodePath: string | undefined): string {
  return [
    `word=${quoted(word)}`,
    `node=${quoted(nodePath ?? '')}`,
    `if [ -z "$node" ]; then node=$(command -v node); fi`,
    `if [ -z "$node" ] || ! [ -x "$node" ]; then`,
    `  printf '\\n%s {"kind":"problem","problem":"no-node","detail":""}\\n' "$word"; exit 0`,
    'fi',
    `exec "$node" -e ${quoted(nodeLoader)} "$word" ${programBytes}`,
    '',
  ].join('\n');
}

/** In words that every Node understands, because an old one has to say that it is one. */
const nodeLoader = `
var fs = require("fs"), word = process.argv[1], left = Number(process.argv[2]), version = process.versions.node;
var program = Buffer.alloc(left);
while (left > 0) {
  var count = fs.readSync(0, program, program.length - left, left, null);
  if (count === 0) process.exit(1);
  left -= count;
}
var parts = version.split("."), major = Number(parts[0]), minor = Number(parts[1]), oldest = ${JSON.stringify(oldestNodes)};
var isOld = major < oldest[0][0] || oldest.some(function (first) { return major === first[0] && minor < first[1]; });
if (isOld) {
  var said = { kind: "problem", problem: "old-node", detail: version };
  process.stdout.write("\\n" + word + " " + JSON.stringify(said) + "\\n");
} else {
  new Function("require", "module", "exports", program.toString())(require, { exports: {} }, {});
}`;

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
