import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';

/** Who may connect: undefined when the header shows it, or why not, as the protocol words it. */
export type Authentication = (authorization: string | undefined) => string | undefined;

export interface JwtExpectations {
  readonly secret: string;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly maxClockSkewSeconds: number;
}

/** The bearer of one token, of which only the hash has to be known. */
export function capabilityToken(sha256: Uint8Array): Authentication {
  return withToken((token) =>
    timingSafeEqual(hashOf(token), sha256) ? undefined : 'invalid websocket bearer token',
  );
}

/** The bearer of a token that somebody who knows the secret has signed: a JWT with HS256, and nothing else. */
export function signedBearerToken(expected: JwtExpectations, now: () => number = Date.now): Authentication {
  return withToken((token) => {
    const claims = claimsOf(token, expected.secret);
    return claims === undefined
      ? 'invalid websocket jwt'
      : (whyNotNow(claims, expected.maxClockSkewSeconds, now()) ?? whyNotFor(claims, expected));
  });
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function withToken(check: (token: string) => string | undefined): Authentication {
  return (authorization) => {
    if (authorization === undefined) {
      return 'missing websocket bearer token';
    }
    const [, token] = /^\s*bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    return token === undefined ? 'invalid authorization header' : check(token);
  };
}

const header = z.object({ alg: z.literal('HS256') });
const claims = z.object({
  exp: z.number(),
  nbf: z.number().optional(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
});
type Claims = z.infer<typeof claims>;

function claimsOf(token: string, secret: string): Claims | undefined {
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  const expected = createHmac('sha256', secret).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, 'base64url');
  const isSigned = given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  if (!isSigned || more.length > 0 || !header.safeParse(jsonOf(head)).success) {
    return undefined;
  }
  return claims.safeParse(jsonOf(body)).data;
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function whyNotNow({ exp, nbf }: Claims, skewSeconds: number, now: number): string | undefined {
  const seconds = now / 1000;
  if (exp + skewSeconds < seconds) {
    return 'expired websocket jwt';
  }
  return nbf !== undefined && nbf - skewSeconds > seconds ? 'websocket jwt is not valid yet' : undefined;
}

function whyNotFor({ iss, aud }: Claims, { issuer, audience }: JwtExpectations): string | undefined {
  if (issuer !== undefined && iss !== issuer) {
    return 'websocket jwt issuer mismatch';
  }
  const audiences = aud === undefined ? [] : [aud].flat();
  return audience !== undefined && !audiences.includes(audience)
    ? 'websocket jwt audience mismatch'
    : undefined;
}
