import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import type { AuditFilter, AuditOutcome } from '../runtime/audit/auditFilter.ts';
import { auditOutcomes } from '../runtime/audit/auditFilter.ts';
import { auditLines } from '../runtime/audit/auditWords.ts';
import type { AuditReading } from '../runtime/audit/readAudit.ts';
import { readAudit } from '../runtime/audit/readAudit.ts';
import { cliAuditFolder } from './auditFolder.ts';
import { UsageError } from './usageError.ts';

const auditOptions = {
  folder: { type: 'string' },
  root: { type: 'string' },
  decision: { type: 'string' },
  command: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `cordon audit`: prints the audit log, newest first. */
export async function runAudit(args: readonly string[]): Promise<number> {
  const { folder = cliAuditFolder(), json = false, ...filter } = parse(args);
  const reading = readAudit(resolve(folder), filterOf(filter));
  try {
    await pipeline(Readable.from(linesOf(reading, json)), process.stdout, { end: false });
  } catch (error) {
    // Whoever reads has seen enough.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') {
      throw error;
    }
  }
  const { lines, bytes, files } = reading.damage;
  if (lines > 0) {
    process.stderr.write(`cordon: ${lines} lines (${bytes} bytes) could not be read.\n`);
  }
  for (const { path, reason } of files) {
    process.stderr.write(`cordon: ${path} could not be read: ${reason}\n`);
  }
  return files.length === 0 ? 0 : 1;
}

async function* linesOf({ entries }: AuditReading, isJson: boolean): AsyncGenerator<string> {
  for await (const entry of entries) {
    yield `${isJson ? JSON.stringify(entry) : auditLines(entry).join('\n')}\n`;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: auditOptions, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function filterOf({ root, decision, command }: Readonly<Record<string, string | undefined>>): AuditFilter {
  if (decision !== undefined && !isOutcome(decision)) {
    throw new UsageError(`--decision ${decision}: must be one of ${auditOutcomes.join(', ')}.`);
  }
  return { root: root === undefined ? undefined : canonical(root), outcome: decision, command };
}

function isOutcome(word: string): word is AuditOutcome {
  return auditOutcomes.some((outcome) => outcome === word);
}

/** A folder that is gone may be in the log all the same. */
function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
