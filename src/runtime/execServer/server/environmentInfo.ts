import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findShell } from '../../findShell.ts';
import { uriOf } from '../protocol/fileUri.ts';
import type { EnvironmentInfo } from '../protocol/handshake.ts';

/** All that the protocol has a word for; a server announces those that it has. */
const capabilityNames = [
  'networkProxyLaunch',
  'networkProxyReviewDomains',
  'networkProxyTransparentTcp',
  'credentialMasking',
  'credentialMaskingCustomProviders',
  'capabilityDiscoverySandbox',
  'fsWatchMissing',
  'capabilityDiscoveryV2',
  'environmentConfigRead',
  'httpHeaderEnvVars',
  'sandboxedFileStreaming',
  'fileWriteStreaming',
  'shellSnapshotV2',
  'windowsMxc',
  'linuxRootWritePreservesDevices',
  'linuxApprovedRootWritePreservesRestrictions',
] as const;

export interface Installation {
  /** `dist`. */
  readonly folder: string;
  readonly version: string;
  /** Of the bundle. */
  readonly build: string;
}

/** The shell of the machine's person, or one that is there. */
export function ownShell(environment: NodeJS.ProcessEnv): string {
  const shell = findShell(undefined, environment);
  return shell.ok ? shell.value : '/bin/sh';
}

/**
 * What a client learns about this machine and this server: the same as long as it runs, so it is found out once. Every
 * connection asks, and one that comes back after a cut is waited for.
 */
export function serverInfo({ folder, version, build }: Installation, shell: string): EnvironmentInfo {
  const programs = join(folder, 'bin');
  return {
    shell: { name: basename(shell), path: shell },
    executorVersion: version,
    providerId: providerId(folder),
    cwd: uriOf(process.cwd()),
    userHomeDir: uriOf(homedir()),
    platformOs: process.platform,
    prependPathDirs: existsSync(programs) ? [uriOf(programs)] : [],
    temporaryDirectories: [uriOf(tmpdir())],
    tempDir: uriOf(tmpdir()),
    cordon: { version: 1, build, pid: process.pid },
  };
}

/** Of all capabilities that there are words for, which of them these are. */
export function announced(capabilities: readonly string[]): Readonly<Record<string, boolean>> {
  return Object.fromEntries(capabilityNames.map((name) => [name, capabilities.includes(name)]));
}

/** The same for every server of this person from this installation, and for no other. */
function providerId(folder: string): string {
  const parts = ['cordon exec-server', machineId(), String(process.getuid?.() ?? 0), folder];
  return `sha256:${createHash('sha256').update(parts.join('\0')).digest('hex')}`;
}

function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    // Containers often have none.
    return hostname();
  }
}
