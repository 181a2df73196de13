/** What the first bytes of a connection say: more are needed, no TLS (or none that could be read), or its server name. */
export type Greeting =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'other' }
  | { readonly kind: 'tls'; readonly serverName: string | undefined };

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
const hostNameType = 0;
const incomplete: Greeting = { kind: 'incomplete' };
const other: Greeting = { kind: 'other' };

/** Reads the server name out of a TLS ClientHello (RFC 8446 §4.1.2, RFC 6066 §3), across records. */
export function readGreeting(bytes: Buffer): Greeting {
  if (bytes.length === 0) {
    return incomplete;
  }
  if (bytes[0] !== handshakeRecord) {
    return other;
  }
  const message = joinRecords(bytes);
  if (message.length < 4) {
    return incomplete;
  }
  const length = message.readUIntBE(1, 3);
  if (message[0] !== clientHello) {
    return other;
  }
  if (message.length < 4 + length) {
    return incomplete;
  }
  try {
    return { kind: 'tls', serverName: findServerName(message.subarray(4, 4 + length)) };
  } catch {
    // A length that points behind the end: nothing a server would answer to.
    return other;
  }
}

/** The handshake messages in the records, as far as they have arrived, up to the first record of another kind. */
function joinRecords(bytes: Buffer): Buffer {
  const fragments: Buffer[] = [];
  let at = 0;
  for (; at + 5 <= bytes.length && bytes[at] === handshakeRecord; at += 5 + bytes.readUInt16BE(at + 3)) {
    fragments.push(bytes.subarray(at + 5, at + 5 + bytes.readUInt16BE(at + 3)));
  }
  return Buffer.concat(fragments);
}

function findServerName(hello: Buffer): string | undefined {
  // Version and random, then session id, cipher suites, compression methods: each with its length in front.
  let at = 34;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  if (at === hello.length) {
    return undefined;
  }
  const end = at + 2 + hello.readUInt16BE(at);
  for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) === serverNameExtension) {
      return firstHostName(hello.subarray(at + 4, at + 4 + hello.readUInt16BE(at + 2)));
    }
  }
  return undefined;
}

function firstHostName(list: Buffer): string | undefined {
  for (let at = 2; at < list.length; at += 3 + list.readUInt16BE(at + 1)) {
    if (list.readUInt8(at) === hostNameType) {
      return list.toString('latin1', at + 3, at + 3 + list.readUInt16BE(at + 1));
    }
  }
  return undefined;
}
