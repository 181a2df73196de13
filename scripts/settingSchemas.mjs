// What the schemas of policies, rules and environments say about their settings, in the terms of the manifest.
import * as z from 'zod';
import { environmentsSetting } from '../src/runtime/environments/environments.ts';
import { environmentsJsonSchema } from '../src/runtime/environments/providers.ts';
import { defaultLimits, defaultWords } from '../src/sandbox/policy/defaults.ts';
import { policySettingsSchema } from '../src/sandbox/policy/settings.ts';
import { ruleSetting, ruleSettingsSchema } from '../src/sandbox/rules/ruleSettings.ts';

const prefix = 'cordon.sandbox';

/** The groups whose fields are settings of their own. */
const groups = ['environment', 'limits'];

/**
 * The facts of each setting: its type, its values, what is in it. The manifest adds words, scopes and patterns.
 * `profiles` repeats the others, with their words, so it is made from the manifest's own properties.
 */
export function settingFacts(properties) {
  const schema = z.toJSONSchema(policySettingsSchema);
  const fields = Object.entries(schema.properties).flatMap(([name, part]) =>
    groups.includes(name)
      ? Object.entries(part.properties).map(([inner, field]) => [`${name}.${inner}`, field])
      : [[name, part]],
  );
  const facts = Object.fromEntries(
    fields.map(([name, part]) => {
      const setting = `${prefix}.${name}`;
      return [setting, withNamed(factsOf(part), properties[setting] ?? {})];
    }),
  );
  return {
    ...withDefaults(facts),
    [`${prefix}.profile`]: { type: 'string' },
    [`${prefix}.profiles`]: { type: 'object', additionalProperties: profileSchema(facts, properties) },
  };
}

/** What holds where nobody says otherwise; a limit that depends on the machine is told in words. */
function withDefaults(facts) {
  const limits = Object.keys(facts).filter((name) => name.startsWith(`${prefix}.limits.`));
  const defaults = {
    ...Object.fromEntries(limits.map((name) => [name, defaultLimits[name.split('.').at(-1)] ?? null])),
    ...Object.fromEntries(Object.entries(defaultWords).map(([name, word]) => [`${prefix}.${name}`, word])),
  };
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      name in defaults ? { ...fact, default: defaults[name] } : fact,
    ]),
  );
}

/** The manifest's settings with the facts written over theirs. */
export function withFacts(properties) {
  return Object.fromEntries(
    Object.entries(settingFacts(properties)).map(([name, facts]) => [
      name,
      merge(properties[name] ?? {}, facts),
    ]),
  );
}

/** The setting of rules with the facts of its schema written over its own. */
export function withRuleFacts(properties) {
  const { $schema: _schema, ...facts } = z.toJSONSchema(ruleSettingsSchema);
  return { [ruleSetting]: merge(properties[ruleSetting] ?? {}, facts) };
}

/** The setting of environments, with one shape for each kind that there is. */
export function withEnvironmentFacts(properties) {
  return { [environmentsSetting]: merge(properties[environmentsSetting] ?? {}, environmentsJsonSchema()) };
}

/** Sentences about settings that do not hold for a profile. */
const ofSettingsOnly =
  / (?:A workspace or folder value only counts where it is stricter|Of a workspace or folder value only what narrows counts|Workspaces cannot set this|Your own value decides.*)\.$/;

function profileSchema(facts, properties) {
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: {
      extends: {
        type: 'string',
        markdownDescription: 'The profile or mode to start from; what this profile says itself counts.',
      },
    },
  };
  for (const [name, fact] of Object.entries(facts)) {
    const { scope: _scope, default: _default, order: _order, ...words } = properties[name] ?? {};
    words.markdownDescription = words.markdownDescription?.replace(ofSettingsOnly, '');
    const [group, field] = name.slice(prefix.length + 1).split('.');
    const owner =
      field === undefined
        ? schema
        : (schema.properties[group] ??= { type: 'object', additionalProperties: false, properties: {} });
    owner.properties[field ?? group] = merge(words, fact);
  }
  return schema;
}

/** Names that the manifest explains can have what every name can have. */
function withNamed(facts, { properties }) {
  if (properties === undefined) return facts;
  const names = Object.keys(properties).map((name) => [name, facts.additionalProperties]);
  return { ...facts, properties: Object.fromEntries(names) };
}

function factsOf(schema) {
  if (schema.anyOf !== undefined) {
    // Only limits can be null: a whole number above 0, or none.
    return { type: ['integer', 'null'], minimum: 1 };
  }
  const facts = { type: schema.type };
  if (schema.enum !== undefined) facts.enum = schema.enum;
  if (schema.items !== undefined) facts.items = factsOf(schema.items);
  if (typeof schema.additionalProperties === 'object')
    facts.additionalProperties = factsOf(schema.additionalProperties);
  return facts;
}

function merge(words, facts) {
  const nested = Object.entries(facts).map(([key, value]) => [
    key,
    isObject(value) && isObject(words[key]) ? merge(words[key], value) : value,
  ]);
  // Facts first, so that the manifest reads the same whoever wrote it last.
  return {
    ...Object.fromEntries(nested),
    ...Object.fromEntries(Object.entries(words).filter(([key]) => !(key in facts))),
  };
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
