import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { errorCode } from '../../sandbox/paths.ts';
import type { EnvironmentError, EnvironmentProvider } from './environment.ts';
import type { ConnectionRefused } from '../execServer/client/dial.ts';
import { createRemoteEnvironment } from './remoteEnvironment.ts';
import { remotePath } from './ssh/sshSettings.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const address = z.string().superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem =
    url === undefined || !['ws:', 'wss:'].includes(url.protocol)
      ? 'must be an address as in "wss://build.example:4711"'
      : url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
        ? 'must be an address without user, password, query and fragment: a token belongs into "tokenFile"'
        : undefined;
  if (problem !== undefined) {
    context.addIssue({ code: 'custom', message: problem });
  }
});

/** An environment of type `url`. */
export const urlSettings = z
  .strictObject({
    /** Of a server that runs already. */
    url: address,
    /** The folder on that machine that the commands of the root work in. */
    folder: remotePath,
    /** The file that holds the token which the server wants, and nothing else. */
    tokenFile: z
      .string()
      .refine(
        (path) => isAbsolute(path) || path.startsWith('~/'),
        'must be an absolute path, or begin with ~/',
      )
      .optional(),
    /** Lets commands, their output and the token go over a network where others can read and change them. */
    allowUnencrypted: z.boolean().optional(),
  })
  .refine(({ url, allowUnencrypted }) => allowUnencrypted === true || isProtected(url), {
    path: ['url'],
    message:
      'must be a wss:// address, because others can read and change what goes over ws:// to another machine; "allowUnencrypted": true takes that risk',
  });
export type UrlSettings = z.infer<typeof urlSettings>;

function isProtected(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol !== 'ws:' || loopback.test(url.hostname);
}

/** A machine on which somebody started an exec-server: Cordon's own or another that speaks the protocol. */
export const urlProvider: EnvironmentProvider<UrlSettings> = {
  type: 'url',
  settings: urlSettings,
  open(name, { url, folder, tokenFile }, { log, sessions }) {
    return createRemoteEnvironment({
      name,
      address: url,
      folder,
      log,
      sessions,
      async dial(signal) {
        // With every connection: tokens change.
        const token = tokenFile === undefined ? ok(undefined) : readToken(tokenFile);
        if (!token.ok) {
          return token;
        }
        const { ConnectionRefused, dialWebSocket } = await import('../execServer/client/dial.ts');
        try {
          const dial = dialWebSocket(url, token.value === undefined ? {} : { token: token.value });
          return ok(await dial(signal));
        } catch (cause) {
          return fail(
            cause instanceof ConnectionRefused ? whyRefused(cause, tokenFile) : whyNoConnection(url, cause),
          );
        }
      },
    });
  },
};

function readToken(written: string): Result<string, EnvironmentError> {
  const path = written.startsWith('~/') ? join(homedir(), written.slice(2)) : written;
  const problem = (why: string, hint: string): Result<never, EnvironmentError> =>
    fail({ kind: 'invalid-settings', message: `The token file ${path} ${why}.`, hint });
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      return problem('can be read or written by others', `Close it with "chmod 600 ${path}".`);
    }
    const token = readFileSync(path, 'utf8').trim();
    return /^[\x21-\x7e]+$/.test(token)
      ? ok(token)
      : problem('holds no token', 'Write the token into it, alone: visible ASCII characters on one line.');
  } catch (error) {
    return problem(
      `cannot be read: ${errorCode(error) ?? String(error)}`,
      'Correct "tokenFile" of the environment, or make the file.',
    );
  }
}

function whyRefused({ message, status }: ConnectionRefused, tokenFile: string | undefined): EnvironmentError {
  return status === 401 || status === 403
    ? {
        kind: 'refused',
        message: `${message}.`,
        hint:
          tokenFile === undefined
            ? 'Put the token that the server was started with into a file, and name it in "tokenFile" of the environment.'
            : `Write the token that the server was started with into ${tokenFile}.`,
      }
    : {
        kind: 'wrong-version',
        message: `${message}: that is no exec-server.`,
        hint: 'Correct "url" of the environment.',
      };
}

function whyNoConnection(url: string, cause: unknown): EnvironmentError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return isAboutCertificate(errorCode(cause) ?? '')
    ? {
        kind: 'wrong-key',
        message: `The certificate of ${url} is not trusted: ${message}.`,
        hint: 'Give the server a certificate that this machine trusts, or name the authority in NODE_EXTRA_CA_CERTS of the editor.',
      }
    : {
        kind: 'unreachable',
        message: `${url} cannot be reached: ${message === '' ? (errorCode(cause) ?? 'no answer') : message}.`,
        hint: 'Check the address, and that the exec-server runs there.',
      };
}

function isAboutCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS/.test(code);
}
