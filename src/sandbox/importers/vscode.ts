import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PolicySettings } from '../policy/settings.ts';
import { importFileLists } from './fileLists.ts';
import type { ImportedPolicy, ImportProblem } from './importedPolicy.ts';
import { Notes } from './importedPolicy.ts';
import { importHosts } from './importHosts.ts';

const words = z.array(z.string()).default([]);
const flag = z.boolean().optional();
const lists = z.looseObject({ allowRead: words, allowWrite: words, denyRead: words, denyWrite: words });

const settingsSchema = z.looseObject({
  'chat.agent.sandbox.enabled': z.union([z.enum(['off', 'on', 'allowNetwork']), z.boolean()]).optional(),
  'chat.agent.sandbox.network.allowNetwork': flag,
  'chat.agent.sandbox.allowNetwork': flag,
  'chat.agent.sandbox.network.allowedDomains': words,
  'chat.agent.sandbox.network.deniedDomains': words,
  'chat.agent.sandbox.fileSystem.linux': lists.prefault({}),
  'chat.agent.sandbox.fileSystem.mac': lists.prefault({}),
  'chat.agent.sandbox.fileSystem.windows': lists.prefault({}),
  'chat.agent.sandbox.fileSystem.userConfiguredPaths': z
    .looseObject({ readwritePaths: words, readonlyPaths: words, deniedPaths: words })
    .prefault({}),
  'chat.agent.networkFilter': flag,
  'chat.agent.allowedNetworkDomains': words,
  'chat.agent.deniedNetworkDomains': words,
});

const fileSystemOf: Readonly<Partial<Record<NodeJS.Platform, 'linux' | 'mac' | 'windows'>>> = {
  linux: 'linux',
  darwin: 'mac',
  win32: 'windows',
};

const carriedSettings = Object.keys(settingsSchema.shape);

/** Settings of the editor's terminal sandbox without an equivalent, and why. */
const restWhys: Readonly<Record<string, string>> = {
  'chat.agent.sandbox.network.allowLocalNetwork': 'Name hosts of the local network one by one, in hosts.',
  'chat.agent.sandbox.fileSystem.allowDevToolAccess':
    'Cordon shows toolchains read-only and gives package managers caches of their own; see caches.',
  'chat.agent.sandbox.allowUnsandboxedCommands': 'No command of Cordon leaves its sandbox by itself.',
  'chat.agent.sandbox.retryWithAllowNetworkRequests': 'No command of Cordon gets the network by itself.',
  'chat.agent.sandbox.allowAutoApprove':
    'Which calls ask you is decided by the editor’s chat, not by the sandbox.',
  'chat.agent.sandbox.mcpServers': 'Cordon confines commands, not the editor’s servers.',
  'chat.agent.sandbox.lspServers': 'Cordon confines commands, not the editor’s servers.',
  'chat.agent.sandbox.credentials.authenticategit': 'Commands of Cordon get no credentials.',
  'chat.agent.sandbox.credentials.authenticategh': 'Commands of Cordon get no credentials.',
  'chat.tools.terminal.autoApprove':
    'Rules about single commands have no equivalent: the sandbox decides what a command may do.',
};

/** What the editor has to look up, by full name. */
export const vscodeSettingNames: readonly string[] = [...carriedSettings, ...Object.keys(restWhys)];

/** The policy of the editor's own terminal sandbox, from the user's values. Empty when nothing is set. */
export function importVscode(
  settings: Readonly<Record<string, unknown>>,
  { homeDir, platform }: { readonly homeDir: string; readonly platform: NodeJS.Platform },
): Result<readonly ImportedPolicy[], ImportProblem> {
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  if (Object.keys(set).length === 0) {
    return ok([]);
  }
  const parsed = settingsSchema.safeParse(set);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail({ message: `${(issue?.path ?? []).join('.')} is not valid: ${issue?.message ?? ''}.` });
  }
  const notes = new Notes();
  notes.addPresent(set, restWhys);
  const enabled = parsed.data['chat.agent.sandbox.enabled'];
  const isInUse = enabled === true || enabled === 'on' || enabled === 'allowNetwork';
  if (!isInUse) {
    notes.add(
      'chat.agent.sandbox.enabled',
      'It is not on: the editor runs commands unconfined. That is not carried over.',
    );
  }
  return ok([
    {
      name: 'chat.agent.sandbox',
      isInUse,
      settings: {
        ...(isInUse ? { mode: 'workspace-write' as const } : {}),
        ...filesOf(parsed.data, homeDir, platform, notes),
        ...networkOf(parsed.data, notes),
      },
      notes: notes.all,
    },
  ]);
}

type Settings = z.infer<typeof settingsSchema>;

function filesOf(
  settings: Settings,
  homeDir: string,
  platform: NodeJS.Platform,
  notes: Notes,
): PolicySettings {
  const own = fileSystemOf[platform];
  const { allowRead, allowWrite, denyRead, denyWrite } =
    own === undefined ? lists.parse({}) : settings[`chat.agent.sandbox.fileSystem.${own}`];
  const paths = settings['chat.agent.sandbox.fileSystem.userConfiguredPaths'];
  return importFileLists(
    {
      // Denied outranks read-only, which outranks writable, wherever one path stands in two lists.
      allowRead: [...allowRead, ...paths.readonlyPaths.filter((path) => !paths.deniedPaths.includes(path))],
      allowWrite: [...allowWrite, ...paths.readwritePaths],
      denyRead: [...denyRead, ...paths.deniedPaths],
      denyWrite: [...denyWrite, ...paths.readonlyPaths.filter((path) => paths.readwritePaths.includes(path))],
    },
    homeDir,
    notes,
  );
}

function networkOf(settings: Settings, notes: Notes): PolicySettings {
  const allow = [
    ...settings['chat.agent.sandbox.network.allowedDomains'],
    ...settings['chat.agent.allowedNetworkDomains'],
  ];
  const deny = [
    ...settings['chat.agent.sandbox.network.deniedDomains'],
    ...settings['chat.agent.deniedNetworkDomains'],
  ];
  const isOpen =
    settings['chat.agent.sandbox.enabled'] === 'allowNetwork' ||
    (settings['chat.agent.sandbox.network.allowNetwork'] ?? settings['chat.agent.sandbox.allowNetwork']);
  const isFiltered = settings['chat.agent.networkFilter'] === true || allow.length > 0 || deny.length > 0;
  const hosts = importHosts({ allow, deny }, notes);
  if (isOpen === undefined && !isFiltered) {
    notes.add(
      'chat.agent.sandbox.network.allowNetwork',
      'Not set: the editor’s default differs by version, so the network stays as it is.',
    );
  }
  return {
    ...(isOpen === false
      ? { network: 'off' as const }
      : isFiltered
        ? { network: 'allow-list' as const }
        : isOpen === true
          ? { network: 'on' as const }
          : {}),
    ...(Object.keys(hosts).length > 0 ? { hosts } : {}),
  };
}
