import type { ConfigEntry } from './configFile.ts';

/** Last words of variables whose value is a command, whatever their section: `diff.x.textconv`, `core.sshCommand`. */
const commandWords =
  /(command|cmd|program|helper|driver|textconv|editor|pager|hook|askpass|tunnel|diff-?filter)$/;

/** Variables that make git run a program and do not say so in their last word; `*` stands for any subsection. */
const commandKeys = [
  'core.fsmonitor',
  'core.hookspath',
  'core.gitproxy',
  'diff.external',
  'difftool.*.path',
  'mergetool.*.path',
  'browser.*.path',
  'man.*.path',
  'filter.*.clean',
  'filter.*.smudge',
  'filter.*.process',
  'lfs.extension.*.clean',
  'lfs.extension.*.smudge',
  'lfs.customtransfer.*.path',
  'remote.*.uploadpack',
  'remote.*.receivepack',
  'remote.*.vcs',
  'init.templatedir',
  'instaweb.httpd',
  'instaweb.modulepath',
  'sendemail.smtpserver',
  'hook.*',
  // They bring variables from elsewhere, or allow `ext::`, which is a command.
  'include.path',
  'includeif.*.path',
  'protocol.allow',
  'protocol.*.allow',
].map((key) => new RegExp(`^${key.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 's'));

/** Commands only when they begin with `!`. */
const aliasKeys = [/^alias\./s, /^submodule\..*\.update$/s];

/** Where a command is expected they turn something built in on or off. */
const booleans = /^(true|false|yes|no|on|off|0|1|)$/i;

/** Whether a variable makes git run something, or take more variables from elsewhere. */
export function runsProgram({ key, value = 'true' }: ConfigEntry): boolean {
  if (aliasKeys.some((pattern) => pattern.test(key))) {
    return value.trimStart().startsWith('!');
  }
  const name = key.slice(key.lastIndexOf('.') + 1);
  const isCommand =
    key.startsWith('pager.') || commandWords.test(name) || commandKeys.some((pattern) => pattern.test(key));
  return isCommand && (key.startsWith('protocol.') ? !/^(never|user)$/.test(value) : !booleans.test(value));
}
