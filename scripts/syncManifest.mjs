// Writes the input schemas of the language-model tools and the types of the sandbox's, the rules' and the environments' settings from zod into
// package.json, so that there is one source.
//   npm run sync-manifest
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { applyPatchSchema } from '../src/runtime/tools/applyPatch.ts';
import { execCommandSchema } from '../src/runtime/tools/execCommand.ts';
import { killSessionSchema } from '../src/runtime/tools/killSession.ts';
import { listSessionsSchema } from '../src/runtime/tools/listSessions.ts';
import { sleepSchema } from '../src/runtime/tools/sleep.ts';
import { writeStdinSchema } from '../src/runtime/tools/writeStdin.ts';
import { root } from './project.mjs';
import { withEnvironmentFacts, withFacts, withRuleFacts } from './settingSchemas.mjs';

const schemas = {
  cordon_exec_command: execCommandSchema,
  cordon_write_stdin: writeStdinSchema,
  cordon_list_sessions: listSessionsSchema,
  cordon_kill_session: killSessionSchema,
  cordon_apply_patch: applyPatchSchema,
  cordon_sleep: sleepSchema,
};

/** Models support different subsets of JSON Schema: only what all of them know stays. */
const portableKeys = new Set(['type', 'properties', 'required', 'enum', 'description', 'items', 'default']);

/** The input schema of each tool, as the manifest has to give it. */
export function manifestSchemas() {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      portable(z.toJSONSchema(schema, { io: 'input' })),
    ]),
  );
}

function portable(schema) {
  const kept = Object.entries(schema).filter(([key]) => portableKeys.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (key === 'properties')
        return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, portable(part)]))];
      return [key, key === 'items' ? portable(value) : value];
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const path = join(root, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8'));
  const expected = manifestSchemas();
  for (const tool of manifest.contributes.languageModelTools) tool.inputSchema = expected[tool.name];
  const { configuration } = manifest.contributes;
  const [sandbox] = configuration;
  const rules = configuration.find(({ title }) => title === 'Rules');
  Object.assign(sandbox.properties, withFacts(sandbox.properties));
  Object.assign(rules.properties, withRuleFacts(rules.properties));
  const environments = configuration.find(({ title }) => title === 'Environments');
  Object.assign(environments.properties, withEnvironmentFacts(environments.properties));
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
}
