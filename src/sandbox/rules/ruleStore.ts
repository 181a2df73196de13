import * as z from 'zod';
import { combineRules } from './combineRules.ts';
import { readRuleFiles, stateOf } from './readRuleFiles.ts';
import { noRules } from './rule.ts';
import type { RuleProblem, RuleSet } from './rule.ts';
import { listManagedFiles, listUserFiles, listWorkspaceFiles } from './ruleFiles.ts';
import type { ListedFile } from './ruleFiles.ts';
import { readRuleSettings } from './ruleSettings.ts';
import type { SettingOwner } from './ruleSettings.ts';

const ruleFilesSetting = 'cordon.rules.files';

/** What the rules of one root come from. Settings are as they come, unchecked. */
export interface RuleInput {
  /** Canonical path. */
  readonly root: string;
  readonly homeDir: string;
  /** The user's `cordon.rules.files`. */
  readonly files: unknown;
  /** The user's `cordon.rules.commands`. */
  readonly user: unknown;
  /** `cordon.rules.commands` of the workspace, which only narrows. */
  readonly workspace: unknown;
  /** Whether commands may write a canonical path: such a file is no rule of the user. */
  readonly isWritable: (path: string) => boolean;
}

/** The rules of roots, read again when a file or a setting is another one. */
export class RuleStore {
  readonly #managedFolder: string;
  readonly #platform: NodeJS.Platform;
  readonly #known = new Map<string, { readonly state: string; readonly rules: RuleSet }>();

  constructor(managedFolder: string, platform: NodeJS.Platform) {
    this.#managedFolder = managedFolder;
    this.#platform = platform;
  }

  rulesOf(input: RuleInput): RuleSet {
    const { root, homeDir, files, user, workspace, isWritable } = input;
    const paths = readPaths(files);
    const listed = {
      managed: listManagedFiles(this.#managedFolder, this.#platform),
      user: listUserFiles(paths.paths, homeDir, isWritable),
      workspace: listWorkspaceFiles(root),
    };
    const state = JSON.stringify([
      ...[user, workspace, paths.problems],
      ...Object.values(listed).map((group) => group.map(stateOf)),
    ]);
    const known = this.#known.get(root);
    if (known?.state === state) {
      return known.rules;
    }
    const rules = combineRules({
      managed: readRuleFiles(listed.managed),
      user: withSettings(listed.user, user, { source: 'user', words: 'the user settings' }, paths.problems),
      workspace: withSettings(listed.workspace, workspace, {
        source: 'workspace',
        words: 'the settings of the workspace',
      }),
    });
    this.#known.set(root, { state, rules });
    return rules;
  }
}

function withSettings(
  files: readonly ListedFile[],
  value: unknown,
  owner: SettingOwner,
  problems: readonly RuleProblem[] = [],
): RuleSet {
  const rules = readRuleFiles(files);
  const settings = readRuleSettings(value, owner);
  const more = settings.ok ? settings.value : { ...noRules, problems: [settings.error] };
  return {
    ...rules,
    prefixes: [...rules.prefixes, ...more.prefixes],
    problems: [...problems, ...rules.problems, ...more.problems],
  };
}

function readPaths(value: unknown): {
  readonly paths: readonly string[];
  readonly problems: readonly RuleProblem[];
} {
  const parsed = z.array(z.string()).safeParse(value ?? []);
  if (parsed.success) {
    return { paths: parsed.data, problems: [] };
  }
  const message = `${ruleFilesSetting} is ${JSON.stringify(value)} in the user settings, but must be a list of paths.`;
  return { paths: [], problems: [{ source: 'user', place: ruleFilesSetting, message }] };
}
