import type { Location } from '../policy/files/locate.ts';
import { decisionOn } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { writeAccess } from '../writeAccess.ts';
import { hiddenWords } from '../ruleWords.ts';
import type { Complaint, LocatedComplaint } from './complaints.ts';
import type { Denial } from './denial.ts';
import type { Person } from './person.ts';
import { reasonAgainstWrite } from './reasonAgainstWrite.ts';

/**
 * Holds a complaint of a program against the policy. Undefined when the policy has nothing to do with it: it opens
 * the place, or the person could not have done it without a sandbox either.
 */
export function describeComplaint(
  { kind, path, place }: LocatedComplaint,
  policy: SandboxPolicy,
  person: Person,
): Denial | undefined {
  if (place === undefined) {
    return kind === 'missing' ? undefined : aboutSomething(kind, path, policy);
  }
  if (place.exists && person.isSocket(place.path)) {
    return aboutSocket(place.path, policy);
  }
  const decision = decisionOn(policy, place.path);
  if (decision.access === 'none' && place.exists) {
    const access = kind === 'read-only' ? 'write' : 'read';
    const what = access === 'write' ? 'written' : 'read';
    return person.may(access, place.path)
      ? {
          certainty: 'known',
          clause: 'files',
          path: place.path,
          access,
          ...hiddenWords(place.path, what, decision),
        }
      : undefined;
  }
  if (kind === 'missing') {
    return undefined;
  }
  const isRefused = writeAccess(policy)(place.path) !== undefined;
  if (kind === 'read-only') {
    if (!person.may('write', place.path)) {
      return undefined;
    }
    return isRefused ? aboutWrite('known', place.path, policy) : aboutSomething(kind, undefined, policy);
  }
  // A relative name may be one in another folder: a script goes where it likes.
  return !place.exists && path?.startsWith('/') === false && person.may('write', place.path)
    ? unclear(policy)
    : aboutPermission(kind, place, isRefused, policy, person);
}

/**
 * The mounts of the sandbox say "read-only file system", so that a refused permission is mostly the business of the
 * permissions. Landlock says it for its rules, and root misses its capabilities.
 */
function aboutPermission(
  kind: 'permission' | 'operation',
  { path, exists }: Location,
  isRefused: boolean,
  policy: SandboxPolicy,
  person: Person,
): Denial | undefined {
  if (isRefused && kind === 'permission' && person.may('write', path)) {
    return aboutWrite('likely', path, policy);
  }
  return exists && person.needsCapability(path)
    ? {
        certainty: 'likely',
        path,
        message: `The sandbox likely stopped what was to be done with ${path}: root has no more rights in it than the file's mode gives.`,
        hint: 'Ask the user to change owner or mode of the file, or to run the command without a sandbox.',
      }
    : undefined;
}

function aboutWrite(certainty: Denial['certainty'], path: string, policy: SandboxPolicy): Denial {
  const { message, ...reason } = reasonAgainstWrite(path, policy);
  const verb = certainty === 'known' ? 'stopped' : 'likely stopped';
  return {
    certainty,
    path,
    access: 'write',
    ...reason,
    message: `The sandbox ${verb} the write to ${path}: ${message}.`,
  };
}

function aboutSocket(path: string, policy: SandboxPolicy): Denial | undefined {
  return policy.sockets.includes(path)
    ? undefined
    : {
        certainty: 'known',
        clause: 'sockets',
        socket: path,
        message: `The sandbox stopped the connection to ${path}: sockets of the machine are closed to commands.`,
        hint: `If the command must reach it, ask the user to add "${path}" to cordon.sandbox.sockets.`,
      };
}

/** The line names no place, or one that only the command's shell could find. */
function aboutSomething(kind: Complaint['kind'], path: string | undefined, policy: SandboxPolicy): Denial {
  if (kind === 'read-only') {
    const { message, ...reason } = reasonAgainstWrite(path, policy);
    const what = path === undefined ? 'a write' : `the write to ${path}`;
    return {
      certainty: 'likely',
      access: 'write',
      ...reason,
      message: `The sandbox likely stopped ${what}: ${message}.`,
    };
  }
  return unclear(policy);
}

export function unclear({ mode, network }: SandboxPolicy): Denial {
  return {
    certainty: 'likely',
    message: `The sandbox (${mode}, network ${network}) likely stopped something, but the output does not tell what.`,
    hint: 'Check whether the command writes outside the root, reaches for the network or for other processes.',
  };
}
