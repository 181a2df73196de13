import { isSecretVariable } from '../../sandbox/environment.ts';

const secretWords: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'passphrase', 'passcode', 'passwords', 'secret', 'token', 'authtoken', 'apikey'],
  ...['accesskey', 'secretkey', 'privatekey', 'credential', 'credentials'],
]);

/** These say it of a name only at its end: `db_pass`, and not `pass_through`. */
const lastWords: ReadonlySet<string> = new Set(['pass', 'pwd', 'pat', 'psk', 'cookie', 'userpwd']);

/** What a `key` must be to be a secret: there are primary ones, sort keys and public ones, too. */
const secretKeys: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'account', 'auth', 'signing', 'encryption', 'master', 'app'],
  ...['subscription', 'shared', 'license', 'deploy', 'session', 'client', 'service'],
]);

/** Names that end so are about a secret, and their value is none: `--password-stdin`, `token_url`. */
const harmlessEnds: ReadonlySet<string> = new Set([
  ...['file', 'path', 'dir', 'name', 'url', 'uri', 'stdin', 'type', 'length', 'count', 'limit', 'ttl'],
  ...['expiry', 'endpoint', 'command', 'store', 'manager', 'prompt'],
]);

/**
 * Whether what stands behind a name is a secret: an option (without its dashes), a variable, a field, a header.
 * Variables in capitals are judged as those of the environment are, everything else by its words.
 */
export function isSecretName(name: string): boolean {
  if (/^(?:OLD)?PWD$/.test(name)) {
    return false;
  }
  return name === '_auth' || (/^[A-Z0-9_]+$/.test(name) && isSecretVariable(name)) || hasSecretWord(name);
}

function hasSecretWord(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return (
    !harmlessEnds.has(last) &&
    (words.some((word) => secretWords.has(word)) ||
      lastWords.has(last) ||
      words.some((word, index) => word === 'key' && secretKeys.has(words[index - 1] ?? '')))
  );
}
