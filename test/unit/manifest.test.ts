import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  settingFacts,
  withEnvironmentFacts,
  withFacts,
  withRuleFacts,
} from '../../scripts/settingSchemas.mjs';
import { manifestSchemas } from '../../scripts/syncManifest.mjs';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import { commandIds } from '../../src/ui/commands/commandIds.ts';
import { bareMachine } from '../harness/policyOf.ts';

interface Manifest {
  readonly icon: string;
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string; readonly when?: string }[]>>;
    readonly views: Readonly<Record<string, readonly View[]>>;
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string }[];
    readonly walkthroughs: readonly { readonly id: string; readonly steps: readonly Step[] }[];
    readonly configuration: readonly { readonly properties: Readonly<Record<string, Setting>> }[];
    readonly languageModelTools: readonly Tool[];
  };
}

interface View {
  readonly id: string;
  readonly name: string;
  readonly accessibilityHelpContent?: string;
}

interface Step {
  readonly id: string;
  readonly description: string;
  readonly media: { readonly markdown?: string; readonly svg?: string; readonly altText?: string };
  readonly completionEvents: readonly string[];
}

interface Setting {
  readonly scope: string;
  readonly default: unknown;
  readonly enum?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
  readonly markdownEnumDescriptions?: readonly string[];
  readonly markdownDescription: string;
  readonly propertyNames?: { readonly pattern: string };
}

interface Tool {
  readonly name: string;
  readonly toolReferenceName: string;
  readonly modelDescription: string;
  readonly userDescription: string;
  readonly inputSchema: unknown;
}

const project = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Manifest;
const { commands, menus, configuration, languageModelTools, walkthroughs, viewsWelcome } =
  manifest.contributes;
const views = Object.values(manifest.contributes.views).flat();
const settings = Object.assign({}, ...configuration.map(({ properties }) => properties)) as Record<
  string,
  Setting
>;

describe('the manifest', () => {
  it('declares the commands that the code registers', () => {
    assert.deepEqual(commands.map(({ command }) => command).sort(), Object.values(commandIds).sort());
    assert.ok(commands.every(({ category }) => category === 'Cordon'));
  });

  it('puts only its own commands into menus', () => {
    const known = new Set<string>(Object.values(commandIds));
    const strange = Object.values(menus).flatMap((items) =>
      items.filter(({ command }) => !known.has(command)),
    );
    assert.deepEqual(strange, []);
  });

  it('names only its own views in menus, and leaves no view without help and welcome', () => {
    const named = Object.values(menus).flatMap((items) =>
      items.flatMap(({ when = '' }) => [...when.matchAll(/\bview == ([\w.]+)/g)].map(([, id]) => id)),
    );
    const known = views.map(({ id }) => id);
    assert.deepEqual(
      named.filter((id) => id === undefined || !known.includes(id)),
      [],
    );
    assert.deepEqual(viewsWelcome.map(({ view }) => view).sort(), [...known].sort());
    assert.ok(views.every(({ accessibilityHelpContent = '' }) => accessibilityHelpContent !== ''));
  });

  it('walks through steps that lead to what exists, show something, and can be done', () => {
    const [walkthrough, ...others] = walkthroughs;
    assert.equal(walkthrough?.id, commandIds.meetYourSandbox);
    assert.deepEqual(others, []);
    const known = new Set<string>([...Object.values(commandIds), ...views.map(({ id }) => `${id}.focus`)]);
    for (const { id, description, media, completionEvents } of walkthrough.steps) {
      const file = media.svg ?? media.markdown ?? '';
      assert.ok(existsSync(join(project, file)) && file !== '', `${id}: ${file}`);
      assert.ok(media.svg === undefined || media.altText !== undefined, id);
      const links = [...description.matchAll(/\(command:([\w.]+)(?:\?([^)]*))?\)/g)];
      assert.ok(links.length > 0, id);
      for (const [, command = '', query] of links) {
        const isSetting = command === 'workbench.action.openSettings';
        const [setting] = isSetting ? (JSON.parse(decodeURIComponent(query ?? '')) as [string]) : [];
        assert.ok(setting === undefined ? known.has(command) : setting in settings, `${id}: ${command}`);
      }
      assert.ok(completionEvents.length > 0, id);
      for (const event of completionEvents) {
        const [kind = '', what = ''] = event.split(/:(.*)/);
        const isKnown = {
          onCommand: known.has(what),
          onView: known.has(`${what}.focus`),
          onSettingChanged: what in settings,
        }[kind];
        assert.equal(isKnown, true, `${id}: ${event}`);
      }
    }
  });

  it('gives each tool the input schema that its code checks (npm run sync-manifest writes them)', () => {
    const declared = Object.fromEntries(
      languageModelTools.map(({ name, inputSchema }) => [name, inputSchema]),
    );
    assert.deepEqual(declared, manifestSchemas());
  });

  it('names each tool and its reference once, and describes it for models and people', () => {
    for (const key of ['name', 'toolReferenceName'] as const) {
      const names = languageModelTools.map((tool) => tool[key]);
      assert.equal(new Set(names).size, names.length);
      assert.ok(names.every((name) => /^[\w-]+$/.test(name)));
    }
    assert.ok(
      languageModelTools.every((tool) => tool.modelDescription !== '' && tool.userDescription !== ''),
    );
  });

  it('declares the settings that the code reads, and no others', () => {
    const source = sourcesUnder(join(project, 'src', 'ui')).join('\n');
    const unread = Object.keys(settings).filter((name) => {
      const inSection = name.replace(/^cordon\.((sandbox|approvals|rules|terminal|patch)\.)?/, '');
      return !source.includes(`'${inSection}'`);
    });
    assert.deepEqual(unread, []);
  });

  it('lets a workspace set only what it may narrow, and where things are shown', () => {
    const fromWorkspace = Object.keys(settings).filter(
      (name) =>
        /^cordon\.(sandbox|approvals|rules|patch)\./.test(name) &&
        !['machine', 'window'].includes(settings[name]?.scope ?? ''),
    );
    const narrowable = [
      'cordon.approvals.policy',
      'cordon.patch.review',
      'cordon.rules.commands',
      'cordon.sandbox.caches',
      'cordon.sandbox.files',
      'cordon.sandbox.git',
      'cordon.sandbox.hosts',
      'cordon.sandbox.limits.cpuSeconds',
      'cordon.sandbox.limits.fileSizeMiB',
      'cordon.sandbox.limits.memoryMiB',
      'cordon.sandbox.limits.processes',
      'cordon.sandbox.mode',
      'cordon.sandbox.network',
      'cordon.sandbox.tmp',
    ];
    assert.deepEqual(fromWorkspace.sort(), narrowable);
    assert.deepEqual(
      [...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort(),
      narrowable,
    );
  });

  it('describes every setting and every value that it can have', () => {
    for (const [name, setting] of Object.entries(settings)) {
      assert.notEqual(setting.markdownDescription, '', name);
      const descriptions = setting.markdownEnumDescriptions ?? setting.enumDescriptions ?? [];
      assert.equal(descriptions.length, setting.enum?.length ?? 0, name);
      assert.ok(setting.enum === undefined || setting.enum.includes(setting.default), name);
    }
  });

  it('gives each setting of the sandbox the type and default of the code (npm run sync-manifest writes them)', () => {
    const own = Object.entries(settings).filter(([name]) => name.startsWith('cordon.sandbox.'));
    assert.deepEqual(own.map(([name]) => name).sort(), Object.keys(settingFacts(settings)).sort());
    assert.deepEqual(Object.fromEntries(own), withFacts(Object.fromEntries(own)));
  });

  it('gives environments the shapes that their providers check (npm run sync-manifest writes them)', () => {
    const name = 'cordon.environments';
    assert.deepEqual({ [name]: settings[name] }, withEnvironmentFacts(settings));
  });

  it('takes environments from the person only', () => {
    assert.equal(settings['cordon.environment']?.scope, 'machine');
    assert.equal(settings['cordon.environments']?.scope, 'machine');
  });

  it('gives rules the shape that the code checks (npm run sync-manifest writes it)', () => {
    const name = 'cordon.rules.commands';
    assert.deepEqual({ [name]: settings[name] }, withRuleFacts(settings));
  });

  describe('accepts in settings what a policy accepts', () => {
    const samples: Readonly<Record<string, readonly (readonly [entry: string, isValid: boolean])[]>> = {
      files: [
        ['/srv/data', true],
        ['~', true],
        ['~/x', true],
        ['.', true],
        ['docs/a', true],
        ['.env', true],
        [':home', true],
        [':workspace/docs', true],
        [':secrets', true],
        ['../x', false],
        ['..', false],
        ['~other/x', false],
        [':nowhere', false],
        [':secrets/x', false],
        ['', false],
      ],
      hosts: [
        ['example.org', true],
        ['*.example.org:443', true],
        ['*', true],
        ['10.0.0.0/8', true],
        ['[::1]:80', true],
        ['fd00::/8', true],
        ['bücher.example', true],
        ['https://example.org', false],
        ['example.org/path', false],
        ['a*.example.org', false],
        ['user@example.org', false],
        ['', false],
      ],
    };
    for (const [field, entries] of Object.entries(samples)) {
      for (const [entry, isValid] of entries) {
        it(`${field}: ${JSON.stringify(entry)} is ${isValid ? 'valid' : 'an error'}`, () => {
          const pattern = settings[`cordon.sandbox.${field}`]?.propertyNames?.pattern ?? '';
          assert.equal(new RegExp(pattern, 'u').test(entry), isValid, 'in the manifest');
          const value = { [entry]: field === 'files' ? 'none' : 'allow' };
          const policy = resolvePolicy({
            ...bareMachine,
            root: '/home/ann/w',
            isTrusted: true,
            user: { [field]: value },
          });
          assert.equal(policy.ok, isValid, 'in the policy');
        });
      }
    }
  });

  it('has an icon of at least 128 pixels', () => {
    const png = readFileSync(join(project, manifest.icon));
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    assert.ok(png.readUInt32BE(16) >= 128 && png.readUInt32BE(20) >= 128);
  });
});

function sourcesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}
