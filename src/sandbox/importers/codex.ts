import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import type { PolicySettings } from '../policy/settings.ts';
import type { CodexConfig, CodexProfile } from './codexConfig.ts';
import { parseCodexConfig, resolveCodexProfile } from './codexConfig.ts';
import { importCodexFiles } from './codexFiles.ts';
import type { ImportedPolicy, ImportProblem } from './importedPolicy.ts';
import { Notes } from './importedPolicy.ts';
import { importHosts } from './importHosts.ts';

/**
 * The policies that a Codex `config.toml` describes: the legacy sandbox mode with its variants per configuration
 * profile, or the permission profiles. Codex takes one of both worlds only: with a `sandbox_mode` in the file the
 * permission profiles are not in use. Empty when the file says nothing about confinement.
 */
export function importCodex(text: string): Result<readonly ImportedPolicy[], ImportProblem> {
  const config = parseCodexConfig(text);
  return config.ok ? importConfig(config.value) : config;
}

function importConfig(config: CodexConfig): Result<readonly ImportedPolicy[], ImportProblem> {
  const legacy = [
    { name: 'sandbox_mode', mode: config.sandbox_mode, isChosen: config.profile === undefined },
    ...Object.entries(config.profiles ?? {}).map(([name, { sandbox_mode: mode }]) => ({
      name,
      mode,
      isChosen: config.profile === name,
    })),
  ].flatMap(({ name, mode, isChosen }) => (mode === undefined ? [] : [{ name, mode, isChosen }]));
  const chosen =
    legacy.find(({ isChosen }) => isChosen) ?? legacy.find(({ name }) => name === 'sandbox_mode');
  const policies = legacy.map(({ name, mode }) => importLegacy(name, mode, config, name === chosen?.name));
  for (const name of profileNames(config)) {
    const isInUse = chosen === undefined && config.default_permissions === name;
    const policy = importProfile(name, config, isInUse);
    if (!policy.ok) {
      return policy;
    }
    policies.push(policy.value);
  }
  return ok(policies);
}

const fullAccess = ':danger-full-access';

/** Those of the file, and a built-in one when it is the default. */
function profileNames({ permissions, default_permissions: standard }: CodexConfig): readonly string[] {
  return [...new Set([...(standard === undefined ? [] : [standard]), ...Object.keys(permissions ?? {})])];
}

function importLegacy(
  name: string,
  mode: NonNullable<CodexConfig['sandbox_mode']>,
  config: CodexConfig,
  isInUse: boolean,
): ImportedPolicy {
  const notes = new Notes();
  const {
    writable_roots: roots,
    network_access: isOnline,
    ...temporary
  } = config.sandbox_workspace_write ?? {};
  const isWriting = mode === 'workspace-write';
  if (mode !== 'danger-full-access') {
    notes.add(`sandbox_mode = "${mode}"`, homeNote);
    noteGit(notes);
  }
  if (isWriting && !(temporary.exclude_slash_tmp === true && temporary.exclude_tmpdir_env_var === true)) {
    notes.add('/tmp and $TMPDIR', temporaryNote);
  }
  return {
    name,
    isInUse,
    settings: {
      mode,
      ...(isWriting && roots !== undefined && roots.length > 0 ? { writableRoots: roots } : {}),
      network: isWriting && isOnline === true ? 'on' : 'off',
      ...environmentOf(config, notes),
    },
    notes: allNotes(config, notes),
  };
}

function importProfile(
  name: string,
  config: CodexConfig,
  isInUse: boolean,
): Result<ImportedPolicy, ImportProblem> {
  const notes = new Notes();
  if (name === fullAccess) {
    const settings: PolicySettings = { mode: 'danger-full-access', ...environmentOf(config, notes) };
    return ok({ name, isInUse, settings, notes: allNotes(config, notes) });
  }
  const profile = resolveCodexProfile(name, config);
  if (!profile.ok) {
    return profile;
  }
  const files = importCodexFiles(profile.value, notes);
  if (files.git === undefined) {
    noteGit(notes);
  }
  const settings = { ...files, ...networkOf(profile.value, notes), ...environmentOf(config, notes) };
  return ok({ name, isInUse, settings, notes: allNotes(config, notes) });
}

function networkOf({ network = {} }: CodexProfile, notes: Notes): PolicySettings {
  const { domains, unix_sockets: sockets } = network;
  const of = (verdict: 'allow' | 'deny'): readonly string[] =>
    Object.entries(domains ?? {}).flatMap(([host, given]) => (given === verdict ? [host] : []));
  const paths = Object.entries(sockets ?? {}).flatMap(([path, given]) => (given === 'allow' ? [path] : []));
  notes.addPresent(network, {
    allow_local_binding:
      'Servers of a command are its own in Cordon; name hosts of the local network one by one.',
    allow_upstream_proxy: 'Cordon’s proxy connects to the hosts itself.',
    dangerously_allow_all_unix_sockets: 'Sockets are named one by one, in sockets.',
  });
  if (network.enabled === true && network.mode === 'limited') {
    notes.add(
      'mode = "limited"',
      'Cordon does not look into requests: every method reaches the allowed hosts.',
    );
  }
  return {
    network: network.enabled !== true ? 'off' : domains === undefined ? 'on' : 'allow-list',
    ...(domains === undefined ? {} : { hosts: importHosts({ allow: of('allow'), deny: of('deny') }, notes) }),
    ...(paths.length === 0 ? {} : { sockets: paths }),
  };
}

function environmentOf({ shell_environment_policy: policy }: CodexConfig, notes: Notes): PolicySettings {
  if (policy === undefined) {
    return {};
  }
  notes.addPresent(policy, {
    experimental_use_profile: 'Each tool call says whether its shell reads the profile.',
  });
  const environment = {
    inherit: policy.inherit,
    ignoreDefaultExcludes: policy.ignore_default_excludes,
    exclude: policy.exclude,
    set: policy.set,
    includeOnly: policy.include_only,
  };
  const given = Object.entries(environment).filter(([, value]) => value !== undefined);
  return given.length === 0 ? {} : { environment: Object.fromEntries(given) };
}

const homeNote =
  'Codex reads the whole disk. Cordon keeps the home folder hidden, except for toolchains. To open it, add ":home": "read" to the files of the profile.';
const temporaryNote =
  'Each command has a temporary folder of its own, which it may write. To use the machine’s, set tmp to "shared".';

function noteGit(notes: Notes): void {
  notes.add(
    '.git',
    'Codex keeps it read-only. Cordon lets command lines that run git write it, without hooks and configuration. For the same as in Codex, set git to "read-only".',
  );
}

function allNotes(config: CodexConfig, notes: Notes): ImportedPolicy['notes'] {
  notes.addPresent(config, {
    approval_policy: 'Which calls ask you is decided by the editor’s chat, not by the sandbox.',
  });
  return notes.all;
}
