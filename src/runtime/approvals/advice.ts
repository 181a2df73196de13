import type { Widening } from '../../sandbox/policy/widening.ts';
import type { ApprovalPolicy } from './approvalPolicy.ts';

/** What an agent can do about a denial that a person may lift: the call that asks for it. */
export function adviceOn(fixes: readonly Widening[], { asks }: ApprovalPolicy): string | undefined {
  const permissions = asks.permissions ? permissionsFor(fixes) : undefined;
  return permissions === undefined
    ? undefined
    : `To ask the person for it, call exec_command again with sandbox_permissions "with_additional_permissions" and additional_permissions ${JSON.stringify(permissions)}.`;
}

function permissionsFor([fix]: readonly Widening[]): object | undefined {
  switch (fix?.kind) {
    case 'path':
      return { file_system: { [fix.access]: [fix.path] } };
    case 'host':
      return { network: { hosts: [fix.host] } };
    case 'network':
      return { network: { enabled: true } };
    case 'socket':
    case 'mode':
    case 'unsandboxed':
    case undefined:
      return undefined;
  }
}
