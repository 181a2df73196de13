import { readFileSync, statSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Authentication } from '../runtime/execServer/server/listen/authentication.ts';
import {
  capabilityToken,
  hashOf,
  signedBearerToken,
} from '../runtime/execServer/server/listen/authentication.ts';
import type { ServerNetwork } from '../runtime/execServer/services/http/serverNetwork.ts';
import { readServerNetwork } from '../runtime/execServer/services/http/serverNetwork.ts';
import { UsageError } from './usageError.ts';

const options = {
  listen: { type: 'string' },
  'concurrent-requests': { type: 'string' },
  'detached-seconds': { type: 'string' },
  'exit-when-idle': { type: 'string' },
  log: { type: 'string' },
  network: { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  'deny-host': { type: 'string', multiple: true },
  'ws-auth': { type: 'string' },
  'ws-token-file': { type: 'string' },
  'ws-token-sha256': { type: 'string' },
  'ws-shared-secret-file': { type: 'string' },
  'ws-issuer': { type: 'string' },
  'ws-audience': { type: 'string' },
  'ws-max-clock-skew-seconds': { type: 'string' },
} as const;

type Values = ReturnType<typeof parse>;
/** Of those with one value. */
type Flag = Exclude<keyof Values, 'allow-host' | 'deny-host'>;

export type ListenFlag =
  | {
      readonly kind: 'ws';
      readonly host: string;
      readonly port: number;
      readonly authenticate?: Authentication;
    }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'stdio' };

export interface ExecServerFlags {
  readonly listen: ListenFlag;
  readonly concurrentRequests: number;
  readonly detachedMs: number;
  /** Absent: it waits for clients for ever. */
  readonly exitWhenIdleMs?: number;
  readonly logPath?: string;
  /** What `http/request` reaches. */
  readonly network: ServerNetwork;
  /** What works, but should not stay so. */
  readonly warnings: readonly string[];
}

/** Reads the command line. Throws a {@link UsageError} that names the flag, its value and what to do. */
export function execServerFlags(args: readonly string[]): ExecServerFlags {
  const values = parse(args);
  const idle = seconds(values, 'exit-when-idle');
  return {
    listen: listenFlag(values),
    concurrentRequests: whole(values, 'concurrent-requests', 1, 10_000) ?? 64,
    detachedMs: (seconds(values, 'detached-seconds') ?? 80) * 1000,
    network: networkFlags(values),
    warnings: secretFiles.flatMap((flag) => openToOthers(flag, values[flag])),
    ...(idle !== undefined && { exitWhenIdleMs: idle * 1000 }),
    ...(values.log !== undefined && { logPath: logPath(values.log) }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    // Node goes on with sentences about quoting, which help nobody here.
    const [problem] = (error as Error).message.split(/\.\s/);
    throw new UsageError(`${problem}. "cordon exec-server --help" lists the flags and their values.`);
  }
}

function logPath(path: string): string {
  if (path === '') {
    throw wrong('log', '""', 'name a file');
  }
  return resolve(path);
}

function networkFlags(values: Values): ServerNetwork {
  const network = readServerNetwork({
    network: values.network,
    allowHost: values['allow-host'],
    denyHost: values['deny-host'],
  });
  if (!network.ok) {
    throw new UsageError(network.error);
  }
  return network.value;
}

function listenFlag(values: Values): ListenFlag {
  const where = values.listen ?? 'ws://127.0.0.1:0';
  const authenticate = authentication(values);
  if (where === 'stdio' || where === 'stdio://') {
    refuseAuthentication(authenticate, where);
    return { kind: 'stdio' };
  }
  if (where.startsWith('unix:')) {
    refuseAuthentication(authenticate, where);
    const path = where.slice('unix:'.length);
    if (path === '') {
      throw wrong('listen', where, 'name a path, as in unix:/run/user/1000/cordon/server');
    }
    return { kind: 'unix', path: resolve(path) };
  }
  const [, bracketed, plain, port] = /^ws:\/\/(?:\[([^\]]+)\]|([^:/[\]]+)):(\d{1,5})$/.exec(where) ?? [];
  const host = bracketed ?? plain ?? '';
  const isAddress = bracketed === undefined ? isIP(host) === 4 : isIP(host) === 6;
  if (!isAddress || Number(port) > 65_535) {
    throw wrong('listen', where, 'use ws://IP:PORT, as in ws://127.0.0.1:0, or unix:PATH, or stdio');
  }
  if (authenticate === undefined && !isLoopback(host)) {
    throw wrong(
      'listen',
      where,
      'that address is reached from other machines: add --ws-auth, or listen on 127.0.0.1 and come through an SSH tunnel',
    );
  }
  return { kind: 'ws', host, port: Number(port), ...(authenticate !== undefined && { authenticate }) };
}

function refuseAuthentication(authenticate: Authentication | undefined, where: string): void {
  if (authenticate !== undefined) {
    throw new UsageError(
      `--ws-auth does not go with --listen ${where}, which only its owner reaches. Leave it out.`,
    );
  }
}

function isLoopback(host: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

const ofMode: Readonly<Record<string, readonly Flag[]>> = {
  'capability-token': ['ws-token-file', 'ws-token-sha256'],
  'signed-bearer-token': ['ws-shared-secret-file', 'ws-issuer', 'ws-audience', 'ws-max-clock-skew-seconds'],
};

function authentication(values: Values): Authentication | undefined {
  const mode = values['ws-auth'];
  if (mode !== undefined && !Object.hasOwn(ofMode, mode)) {
    throw wrong('ws-auth', mode, `use one of ${Object.keys(ofMode).join(', ')}`);
  }
  for (const [needed, flags] of Object.entries(ofMode)) {
    const stray = flags.find((flag) => values[flag] !== undefined);
    if (stray !== undefined && mode !== needed) {
      throw new UsageError(`--${stray} goes with --ws-auth ${needed} only. Add that, or leave it out.`);
    }
  }
  switch (mode) {
    case undefined:
      return undefined;
    case 'capability-token':
      return capabilityToken(tokenHash(values));
    default:
      return signedBearerToken({
        secret: sharedSecret(values),
        issuer: values['ws-issuer'],
        audience: values['ws-audience'],
        maxClockSkewSeconds: seconds(values, 'ws-max-clock-skew-seconds') ?? 30,
      });
  }
}

function tokenHash(values: Values): Buffer {
  const { 'ws-token-file': file, 'ws-token-sha256': sha256 } = values;
  if ((file === undefined) === (sha256 === undefined)) {
    throw new UsageError(
      '--ws-auth capability-token needs one of --ws-token-file FILE and --ws-token-sha256 HEX, and not both.',
    );
  }
  if (sha256 !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(sha256)) {
      throw wrong('ws-token-sha256', sha256, 'pass the 64 hexadecimal digits of the hash');
    }
    return Buffer.from(sha256, 'hex');
  }
  const token = secretFile('ws-token-file', file as string);
  if (token === '') {
    throw wrong('ws-token-file', file as string, 'the file is empty: put a token into it');
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw wrong(
      'ws-token-file',
      file as string,
      'no client can send what is in it: put one token into it, visible ASCII characters on one line',
    );
  }
  return hashOf(token);
}

function sharedSecret(values: Values): string {
  const file = values['ws-shared-secret-file'];
  if (file === undefined) {
    throw new UsageError('--ws-auth signed-bearer-token needs --ws-shared-secret-file FILE.');
  }
  const secret = secretFile('ws-shared-secret-file', file);
  if (Buffer.byteLength(secret) < 32) {
    throw wrong('ws-shared-secret-file', file, 'the secret must have at least 32 bytes');
  }
  return secret;
}

function secretFile(flag: Flag, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw wrong(flag, path, `it cannot be read (${(error as Error).message}): name a file that can`);
  }
}

const secretFiles = ['ws-token-file', 'ws-shared-secret-file'] as const;

function openToOthers(flag: Flag, path: string | undefined): string[] {
  return path === undefined || process.platform === 'win32' || (statSync(path).mode & 0o077) === 0
    ? []
    : [
        `--${flag} ${path} can be read or written by others, who can connect then. Close it: chmod 600 ${path}`,
      ];
}

/** At most what a timer can wait for. */
function seconds(values: Values, flag: Flag): number | undefined {
  return whole(values, flag, 0, 2_000_000);
}

function whole(values: Values, flag: Flag, min: number, max: number): number | undefined {
  const text = values[flag];
  if (text === undefined) {
    return undefined;
  }
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw wrong(flag, text, `use a whole number from ${min} to ${max}`);
  }
  return value;
}

function wrong(flag: Flag, value: string, hint: string): UsageError {
  return new UsageError(`--${flag} ${value} is not possible: ${hint}.`);
}
