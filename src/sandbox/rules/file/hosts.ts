import { RuleSyntaxError } from './problem.ts';
import type { Value } from './values.ts';
import { describeValue } from './values.ts';
import { readText } from './arguments.ts';

/** The name or address in a rule about a host: lower case, without port, brackets and the dot at the end. */
export function readHost(value: Value): string {
  const text = readText(value).trim();
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:[][^:]*):\d+)$/.exec(text) ?? [];
  const host = (bracketed ?? plain ?? text)
    .replace(/\.+$/, '')
    .trim()
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (host === '' || /:\/\/|[/?#*\s]/.test(host) || (bracketed === undefined && text.startsWith('['))) {
    throw new RuleSyntaxError(
      value.at,
      describeValue(value),
      'one host, as in "example.org": no scheme, path, wildcard or space',
    );
  }
  return host;
}
