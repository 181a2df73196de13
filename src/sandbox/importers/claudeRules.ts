import type { Notes } from './importedPolicy.ts';

interface Rules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** What the permission rules add to the sandbox, in the terms of the sandbox's own lists. */
export interface ClaudeRules {
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  readonly allowedDomains: readonly string[];
  readonly deniedDomains: readonly string[];
}

/** `Read`, `Edit` and `WebFetch` rules; all others are about calls of tools, which no sandbox sees. */
export function importClaudeRules({ allow, ask, deny }: Rules, notes: Notes): ClaudeRules {
  const of = (rules: readonly string[], tools: readonly string[]): readonly string[] =>
    rules.flatMap((rule) => {
      const [, tool = '', argument = ''] = /^(\w+)\((.*)\)$/.exec(rule) ?? [];
      return tools.includes(tool) ? [argument] : [];
    });
  const paths = (list: string, rules: readonly string[], tools: readonly string[]): readonly string[] =>
    of(rules, tools).flatMap((path) =>
      rulePath(`permissions.${list} ${tools[0] ?? ''}(${path})`, path, notes),
    );
  const domains = (rules: readonly string[]): readonly string[] =>
    of(rules, ['WebFetch']).flatMap((argument) =>
      argument.startsWith('domain:') ? [argument.slice(7)] : [],
    );
  noteRest({ allow, ask, deny }, notes);
  return {
    allowWrite: paths('allow', allow, ['Edit', 'Write']).filter((path) => /^[/~]/.test(path)),
    denyRead: paths('deny', deny, ['Read']),
    denyWrite: paths('deny', deny, ['Edit', 'Write']),
    allowedDomains: domains(allow),
    deniedDomains: domains(deny),
  };
}

/**
 * A path in the language of `.gitignore`: `//x` is absolute, `~/x` in the home folder, `x/y` below the workspace, and
 * a name alone is meant wherever it occurs. A single slash means the project of the settings, which a user's has not.
 */
function rulePath(rule: string, written: string, notes: Notes): readonly string[] {
  if (written.startsWith('//')) {
    return [written.slice(1)];
  }
  if (written.startsWith('~')) {
    return [written];
  }
  if (written.startsWith('/')) {
    notes.add(rule, 'A single slash is relative to a project. Write // for an absolute path.');
    return [];
  }
  const path = written.replace(/^\.\//, '').replace(/\/$/, '');
  if (path === '' || path === '.' || path === '*' || path === '**') {
    notes.add(rule, 'It is about everything; choose the mode of the sandbox instead.');
    return [];
  }
  const isName = !path.includes('/') && !written.startsWith('./');
  return [isName ? `**/${path}` : path];
}

const carried = /^(?:Read|Edit|Write|WebFetch)\(/;

function noteRest(rules: Rules, notes: Notes): void {
  for (const list of ['allow', 'ask', 'deny'] as const) {
    const others = rules[list].filter((rule) => list === 'ask' || !carried.test(rule));
    if (others.length > 0) {
      notes.add(
        `permissions.${list}: ${others.join(', ')}`,
        'Rules about calls of tools: what commands may do is decided by the sandbox, what asks you by the editor’s chat.',
      );
    }
  }
  const reads = rules.allow.filter((rule) => rule.startsWith('Read('));
  if (reads.length > 0) {
    notes.add(
      `permissions.allow: ${reads.join(', ')}`,
      'They spare questions in Claude Code and open nothing in its sandbox.',
    );
  }
}
