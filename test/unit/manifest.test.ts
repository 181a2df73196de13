import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { manifestSchemas } from '../../scripts/syncManifest.mjs';
import { commandIds } from '../../src/ui/commands/commandIds.ts';

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
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly configuration: readonly { readonly properties: Readonly<Record<string, Setting>> }[];
    readonly languageModelTools: readonly Tool[];
  };
}

interface Setting {
  readonly scope: string;
  readonly default: unknown;
  readonly enum?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
  readonly markdownEnumDescriptions?: readonly string[];
  readonly markdownDescription: string;
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
const { commands, menus, configuration, languageModelTools } = manifest.contributes;
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
      const inSection = name.replace(/^cordon\.(sandbox|terminal|patch)\./, '');
      return !source.includes(`'${inSection}'`);
    });
    assert.deepEqual(unread, []);
  });

  it('lets a workspace set only what it may narrow, and where things are shown', () => {
    const fromWorkspace = Object.keys(settings).filter(
      (name) =>
        /^cordon\.(sandbox|patch)\./.test(name) &&
        !['machine', 'window'].includes(settings[name]?.scope ?? ''),
    );
    const narrowable = [
      'cordon.patch.review',
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
