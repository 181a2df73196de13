import type { ParamsOf } from '../../protocol/methods.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';

/** A request that can be sent: what was given is checked, nothing is looked up yet. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly OutgoingHeader[];
  readonly body: Uint8Array | undefined;
}

export interface OutgoingHeader {
  readonly name: string;
  readonly value: string;
  /** Not for another server that the first one names. */
  readonly isSecret: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that authenticate the person or the server itself, in capitals: no client gets their values sent to a host
 * of its choice.
 */
const protectedVariables: ReadonlySet<string> = new Set([
  ...[
    'OPENAI_API_KEY',
    'CODEX_API_KEY',
    'CODEX_ACCESS_TOKEN',
    'CODEX_CONNECTORS_TOKEN',
    'CODEX_GITHUB_PERSONAL_ACCESS_TOKEN',
  ],
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
  ],
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK'],
  ...['AZURE_CLIENT_SECRET', 'AZURE_OPENAI_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
]);

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldValue = /^[\t\u0020-\u007e\u0080-\u{10ffff}]*$/u;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Hosts get these with other requests' credentials only: names in lower case. */
const credentialHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'proxy-authorization',
  'www-authenticate',
]);

/** Throws the error to answer with. */
export function outgoingRequest(params: ParamsOf<'http/request'>, environment: Environment): OutgoingRequest {
  const { method, bodyBase64 } = params;
  // A tunnel is no request.
  if (!token.test(method) || method.toUpperCase() === 'CONNECT') {
    throw invalid(`method "${method}" is not valid`);
  }
  const url = readUrl(params.url);
  if (typeof bodyBase64 === 'string' && !base64.test(bodyBase64)) {
    throw invalid('bodyBase64 is not valid base64');
  }
  const given = params.headers.map((header) => readHeader(header, environment));
  return {
    method,
    url: withoutUser(url),
    headers: withDefaults([...given, ...userOf(url, given)]),
    body: typeof bodyBase64 === 'string' ? Buffer.from(bodyBase64, 'base64') : undefined,
  };
}

export function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) {
    throw invalid(`url "${text}" is not valid`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`url has the scheme "${url.protocol.slice(0, -1)}": only http and https are supported`);
  }
  return url;
}

/** The request that a redirect asks for; undefined when the answer is none. */
export function redirected(
  request: OutgoingRequest,
  status: number,
  location: string | undefined,
): OutgoingRequest | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) {
    return undefined;
  }
  const url = readUrl(location, request.url);
  const isSame = url.origin === request.url.origin;
  const kept = request.headers.filter(({ isSecret }) => isSame || !isSecret);
  const keepsMethod = status >= 307 || ['GET', 'HEAD'].includes(request.method);
  return keepsMethod
    ? { ...request, url: withoutUser(url), headers: kept }
    : {
        method: 'GET',
        url: withoutUser(url),
        headers: kept.filter(({ name }) => !/^(?:content-|transfer-)/i.test(name)),
        body: undefined,
      };
}

function readHeader(
  { name, value, valueEnvVar }: ParamsOf<'http/request'>['headers'][number],
  environment: Environment,
): OutgoingHeader {
  if (!token.test(name)) {
    throw invalid(`header name "${name}" is not valid`);
  }
  const isVariable = typeof valueEnvVar === 'string';
  const whole = isVariable ? `${value}${valueOf(name, valueEnvVar, environment)}` : value;
  if (!fieldValue.test(whole)) {
    throw invalid(`the value of header "${name}" is not valid`);
  }
  return { name, value: whole, isSecret: isVariable || credentialHeaders.has(name.toLowerCase()) };
}

function valueOf(header: string, variable: string, environment: Environment): string {
  if (protectedVariables.has(variable.trim().toUpperCase()) || /^CORDON_/i.test(variable)) {
    throw invalid(`header "${header}" may not use the protected variable ${variable}`);
  }
  const value = environment[variable];
  if (value === undefined || value === '') {
    throw invalid(`header "${header}" uses the variable ${variable}, which is not set or empty here`);
  }
  return value;
}

/** What a URL names as user and password, unless a header says it. */
function userOf({ username, password }: URL, given: readonly OutgoingHeader[]): readonly OutgoingHeader[] {
  if ((username === '' && password === '') || has(given, 'authorization')) {
    return [];
  }
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return [{ name: 'authorization', value: `Basic ${credentials.toString('base64')}`, isSecret: true }];
}

function withoutUser(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  bare.hash = '';
  return bare;
}

function withDefaults(given: readonly OutgoingHeader[]): readonly OutgoingHeader[] {
  const defaults = [
    { name: 'accept', value: '*/*', isSecret: false },
    // A part of an encoded body could not be decoded.
    ...(has(given, 'range') ? [] : [{ name: 'accept-encoding', value: 'zstd, gzip', isSecret: false }]),
  ];
  return [...given, ...defaults.filter(({ name }) => !has(given, name))];
}

function has(headers: readonly OutgoingHeader[], wanted: string): boolean {
  return headers.some(({ name }) => name.toLowerCase() === wanted);
}

export function invalid(problem: string): RpcError {
  return new RpcError(errorCodes.invalidParams, `http/request ${problem}`);
}
