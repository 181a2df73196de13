import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import type { SandboxMode } from '../../src/sandbox/policy/policy.ts';
import type { ToolCall } from './scriptedModel.ts';
import { ScriptedModel } from './scriptedModel.ts';

export interface CodexAgentOptions {
  /** The exec-server that is its environment. */
  readonly serverUrl: string;
  readonly folder: string;
  readonly mode: SandboxMode;
}

/** What one answer of `exec_command` or `write_stdin` says. */
export interface CommandAnswer {
  readonly text: string;
  /** Absent while it runs, and when the tool failed. */
  readonly exitCode?: number;
  /** Only while it runs. */
  readonly sessionId?: number;
  /** Of all output since the last answer, before truncation. */
  readonly tokens?: number;
  readonly output: string;
}

/** Whose metadata the program has built in, and which patches by its own tool. */
const model = 'gpt-5.5';

/** The real `codex exec`, in a home of its own, doing what the test has its model say. */
export class CodexAgent {
  readonly #model: ScriptedModel;
  readonly #ended: Promise<void>;
  readonly #dispose: () => Promise<void>;

  private constructor(scripted: ScriptedModel, ended: Promise<void>, dispose: () => Promise<void>) {
    this.#model = scripted;
    this.#ended = ended;
    this.#dispose = dispose;
  }

  static async start({ serverUrl, folder, mode }: CodexAgentOptions): Promise<CodexAgent> {
    const program = await ensureCodex();
    const scripted = await ScriptedModel.start();
    const home = await mkdtemp(join('/var/tmp', 'cordon-codex-'));
    const provider = `{name="scripted",base_url="${scripted.baseUrl}",wire_api="responses",env_key="SCRIPTED_KEY"}`;
    const argv = [
      ...['exec', '--skip-git-repo-check', '-s', mode, '-m', model],
      ...['-c', 'model_provider="scripted"', '-c', `model_providers.scripted=${provider}`],
      'Do what the model says.',
    ];
    const child = spawn(program, argv, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        CODEX_HOME: home,
        TMPDIR: '/tmp',
        SCRIPTED_KEY: 'none',
        CODEX_EXEC_SERVER_URL: serverUrl,
      },
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
    const ended = once(child, 'close').then(([code]) => {
      if (code !== 0) {
        throw new Error(`codex exec ended with ${code}: ${said}`);
      }
    });
    ended.catch(() => {});
    return new CodexAgent(scripted, ended, async () => {
      child.kill('SIGKILL');
      await ended.catch(() => {});
      scripted.dispose();
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    });
  }

  /** What it answers to these tool calls, made side by side. */
  async call(...calls: readonly ToolCall[]): Promise<readonly string[]> {
    const early = this.#ended.then(() => {
      throw new Error('codex exec ended before it answered');
    });
    return Promise.race([this.#model.call(...calls), early]);
  }

  /** Without the person's profile, unless `login` asks for it. */
  async exec(cmd: string, more: Readonly<Record<string, unknown>> = {}): Promise<CommandAnswer> {
    const [text] = await this.call({ name: 'exec_command', arguments: { cmd, login: false, ...more } });
    return commandAnswer(text ?? '');
  }

  async write(
    sessionId: number | undefined,
    chars: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<CommandAnswer> {
    const args = { session_id: sessionId, chars, ...more };
    const [text] = await this.call({ name: 'write_stdin', arguments: args });
    return commandAnswer(text ?? '');
  }

  async patch(...lines: readonly string[]): Promise<string> {
    const input = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
    const [text] = await this.call({ name: 'apply_patch', input });
    return text ?? '';
  }

  /** Lets it come to its end by itself. Rejects when that is not success. */
  async finish(): Promise<void> {
    await this.#model.finish();
    await this.#ended;
  }

  dispose(): Promise<void> {
    return this.#dispose();
  }
}

export function commandAnswer(text: string): CommandAnswer {
  const number = (pattern: RegExp): number | undefined => {
    const [, digits] = pattern.exec(text) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const exitCode = number(/^Process exited with code (-?\d+)$/m);
  const sessionId = number(/^Process running with session ID (\d+)$/m);
  const tokens = number(/^Original token count: (\d+)$/m);
  const [, output = ''] = /^Output:\n([\s\S]*)$/m.exec(text) ?? [];
  return {
    text,
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(sessionId !== undefined && { sessionId }),
    ...(tokens !== undefined && { tokens }),
  };
}
