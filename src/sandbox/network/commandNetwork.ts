import type { HostPattern } from '../policy/hostRules.ts';
import type { Asked } from './front.ts';
import type { LocalAddresses } from './gate.ts';
import type { Host } from './host.ts';
import type { Refusal } from './refusal.ts';

/** What the proxy of one command does beyond the rules of its policy. Everything has the default of a policy alone. */
export interface CommandNetwork {
  /** Asked about hosts that no rule knows, and about those to review; without it the answer is no. */
  readonly decide?: (request: HostRequest) => Promise<'allow' | 'deny'>;
  /** Hosts that are asked about although a rule allows them. */
  readonly review?: readonly HostPattern[];
  readonly localAddresses?: LocalAddresses;
  /** Only GET, HEAD and OPTIONS of plain HTTP: nothing that is a tunnel, whose inside nobody sees. */
  readonly isReadOnly?: boolean;
  /** By default SOCKS5 is spoken, too. */
  readonly speaksSocks?: boolean;
  /** By default the proxy that the machine is behind is used. */
  readonly usesUpstream?: boolean;
  /** Told about every request before it goes on; it waits for the answer. */
  readonly onOutcome?: (outcome: RequestOutcome) => Promise<void> | void;
}

/** A host that a command asks for. */
export interface HostRequest extends Asked {
  readonly host: Host;
  readonly port: number;
}

/** What became of a request, as far as rules and answers decide that. */
export interface RequestOutcome {
  /** The same object that {@link CommandNetwork.decide} was asked about, if it was. */
  readonly request: HostRequest;
  /** Why it was refused; undefined for what was let through. */
  readonly refusal: Refusal | undefined;
}
