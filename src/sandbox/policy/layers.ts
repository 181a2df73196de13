import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Owner } from './checkSettings.ts';
import { checkSettings, problemWith, quotedList } from './checkSettings.ts';
import type { PolicyInput, PolicyProblem } from './input.ts';
import { sandboxModes } from './policy.ts';
import type { PolicySettings } from './settings.ts';
import { policySettingsSchema } from './settings.ts';

/** The checked settings of one owner. */
export interface Layer {
  readonly owner: Owner;
  readonly settings: PolicySettings;
}

export interface Layers {
  /** Of the person, weakest first: each replaces what the ones before say. */
  readonly person: readonly Layer[];
  /** Each can only narrow. */
  readonly narrowing: readonly Layer[];
}

export const settingsPrefix = 'cordon.sandbox';

/** Checks everything that has a say; a profile comes as the layers that it extends, and itself last. */
export function readLayers(input: PolicyInput): Result<Layers, PolicyProblem> {
  const user = readLayer('user', 'the user settings', settingsPrefix, input.user);
  const profile = input.profile === undefined ? ok([]) : readProfile(input.profile, input.profiles);
  const grant = readLayer('grant', 'the choice made for this root', settingsPrefix, input.grant);
  const managed = readLayer('managed', "the administrator's policy", 'managed', input.managed);
  const workspace = readLayer('workspace', 'the workspace settings', settingsPrefix, input.workspace);
  if (!user.ok) return user;
  if (!profile.ok) return profile;
  if (!grant.ok) return grant;
  if (!managed.ok) return managed;
  if (!workspace.ok) return workspace;
  return ok({
    person: [...user.value, ...profile.value, ...grant.value],
    narrowing: [...managed.value, ...workspace.value],
  });
}

function readLayer(
  source: Owner['source'],
  words: string,
  prefix: string,
  value: unknown,
): Result<readonly Layer[], PolicyProblem> {
  const owner = { source, words, prefix };
  const checked = value === undefined ? undefined : checkSettings(policySettingsSchema, value, owner);
  if (checked === undefined) {
    return ok([]);
  }
  return checked.ok ? ok([{ owner, settings: checked.value }]) : checked;
}

const profileSchema = policySettingsSchema.extend({
  /** Another profile, or a mode. */
  extends: z.string().optional(),
});

const profilesField = 'profiles';
const settingsOwner: Owner = { source: 'profile', words: 'the settings', prefix: settingsPrefix };

function readProfile(name: unknown, profiles: unknown): Result<readonly Layer[], PolicyProblem> {
  const known = checkSettings(z.record(z.string(), z.unknown()), profiles, {
    ...settingsOwner,
    prefix: `${settingsPrefix}.${profilesField}`,
  });
  return known.ok ? profileLayers(name, ['profile'], known.value, []) : known;
}

/** The layers of a profile, what it extends first. `field` is where its name stands, `seen` who extends it. */
function profileLayers(
  name: unknown,
  field: readonly string[],
  profiles: Readonly<Record<string, unknown>>,
  seen: readonly string[],
): Result<readonly Layer[], PolicyProblem> {
  const mode = sandboxModes.find((word) => word === name);
  if (mode !== undefined) {
    return ok([{ owner: settingsOwner, settings: { mode } }]);
  }
  if (typeof name !== 'string' || !Object.hasOwn(profiles, name)) {
    const names = quotedList([...Object.keys(profiles), ...sandboxModes]);
    return fail(problemWith(settingsOwner, field, name, `the name of a profile or a mode: ${names}`));
  }
  if (seen.includes(name)) {
    const circle = [...seen.slice(seen.indexOf(name)), name].join(' → ');
    return fail(problemWith(settingsOwner, field, name, `a profile that does not extend itself (${circle})`));
  }
  const owner: Owner = {
    source: 'profile',
    words: `the profile "${name}"`,
    prefix: `${settingsPrefix}.${profilesField}.${name}`,
  };
  const checked = checkSettings(profileSchema, profiles[name], owner);
  if (!checked.ok) {
    return checked;
  }
  const { extends: base, ...settings } = checked.value;
  const own: Layer = { owner, settings };
  if (base === undefined) {
    return ok([own]);
  }
  const extended = profileLayers(base, [profilesField, name, 'extends'], profiles, [...seen, name]);
  return extended.ok ? ok([...extended.value, own]) : extended;
}
