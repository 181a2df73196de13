/** Names and values by turns, as `rawHeaders` has them. */
export type RawHeaders = readonly string[];

/** They concern one connection only (RFC 9110 §7.6.1), or what is between a client and its proxy. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What a proxy passes on: without the headers of one connection, those that `Connection` names among them. */
export function endToEnd(raw: RawHeaders, ...alsoWithout: readonly string[]): string[] {
  const named = valuesOf(raw, 'connection').flatMap((value) => value.toLowerCase().split(/[\s,]+/));
  const dropped = new Set([...hopByHop, ...named, ...alsoWithout]);
  return raw.flatMap((name, index) =>
    index % 2 === 0 && !dropped.has(name.toLowerCase()) ? [name, raw[index + 1] ?? ''] : [],
  );
}

export function valuesOf(raw: RawHeaders, wanted: string): string[] {
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === wanted);
}
