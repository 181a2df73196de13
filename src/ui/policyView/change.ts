import type { RuleOrigin } from '../../sandbox/rules/rule.ts';
import type { PolicySource } from '../../sandbox/policy/policy.ts';

/** What a person does to have a value changed. */
export type Change =
  /** Choose in the picker behind the status bar. */
  | { readonly kind: 'picker' }
  | { readonly kind: 'setting'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number }
  /** Somebody else's word holds. */
  | { readonly kind: 'workspace'; readonly setting: string }
  /** In a file of the administrator: the policy, when no other is named. */
  | { readonly kind: 'managed'; readonly path?: string; readonly line?: number }
  | { readonly kind: 'trust' };

/** Whether the person's own word decides. */
export function isOwn({ kind }: Change): boolean {
  return kind === 'picker' || kind === 'setting' || kind === 'file';
}

/** Where what a source decided is changed; `own`: where the person says something else. */
export function changeOf(
  source: PolicySource,
  setting: string,
  own: Change = settingChange(setting),
): Change {
  switch (source) {
    case 'managed':
      return { kind: 'managed' };
    case 'workspace':
      return { kind: 'workspace', setting };
    case 'untrusted':
      return { kind: 'trust' };
    case 'profile':
      return own.kind === 'picker' ? own : settingChange('cordon.sandbox.profiles');
    case 'default':
    case 'user':
    case 'grant':
    case 'request':
      return own;
  }
}

export function settingChange(name: string): Change {
  return { kind: 'setting', name };
}

/** Where the value of a setting at fault, or the administrator's file, is corrected. */
export function correctionOf(field: string): Change | undefined {
  if (field.startsWith('cordon.')) {
    return settingChange(field);
  }
  return field.startsWith('/') ? { kind: 'managed', path: field } : undefined;
}

/** Where a rule stands; undefined for one that a grant made, which is revoked instead. */
export function placeOfRule({ source, place }: RuleOrigin): Change | undefined {
  if (source === 'grant') {
    return undefined;
  }
  const [, setting] = /^(cordon(?:\.[a-zA-Z]+)+)/.exec(place) ?? [];
  if (setting !== undefined) {
    return source === 'workspace' ? { kind: 'workspace', setting } : settingChange(setting);
  }
  const [, path, line] = /^(.+?):(\d+)(?::\d+)?$/.exec(place) ?? [];
  return path === undefined
    ? undefined
    : { kind: source === 'managed' ? 'managed' : 'file', path, line: Number(line) };
}
