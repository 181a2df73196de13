import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { launchChromium } from '../../scripts/chromium.mjs';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import { editorUrl, installExtension, linkExtension, startServer } from '../../scripts/vscodeServer.mjs';
import { assertEnded, descendantsOf, processesWithEnvironment } from '../harness/processes.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';

export const projectFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const artifactsFolder = join(projectFolder, 'artifacts');

export interface EditorOptions {
  /** The folder to open; default a fresh copy of the sample project. Not removed by `dispose`. */
  readonly workspace?: string;
  /** More files for the folder, by name: made before it is opened, because the editor's search learns of later ones late. */
  readonly files?: Readonly<Record<string, string>>;
  /** A `.code-workspace` file to open instead of a folder. */
  readonly workspaceFile?: string;
  /** Default true: trusted without asking. False: workspace trust is on and the workspace starts restricted. */
  readonly trust?: boolean;
  readonly userSettings?: Readonly<Record<string, unknown>>;
  /** Settings of the machine that runs the extension, where `machine` scoped settings live. */
  readonly machineSettings?: Readonly<Record<string, unknown>>;
  /** Install this .vsix instead of the build in dist/. */
  readonly vsix?: string;
  /** Folders of more extensions to install, besides Cordon itself. */
  readonly extraExtensions?: readonly string[];
  /** Added to the environment of the server, hence of the extension host. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A real editor in a real browser, and the hands of a person on it. */
export interface Editor {
  readonly page: Page;
  /** The folder that is open (the one that holds the file, for a `.code-workspace`). */
  readonly workspace: string;
  readonly serverPid: number;
  /** Picks a command in the palette by its exact title, such as `Cordon: Run Sandboxed…`. */
  readonly runCommand: (title: string) => Promise<void>;
  /** Types text where the focus is, key by key. */
  readonly type: (text: string) => Promise<void>;
  /** Presses keys in Playwright's notation: `Enter`, `Control+C`. */
  readonly press: (...keys: readonly string[]) => Promise<void>;
  /** The open quick pick or input box. */
  readonly quickInput: Locator;
  /** Waits for an input box or quick pick (with `placeholder`, when given), enters text, presses Enter. */
  readonly answer: (text: string, placeholder?: string | RegExp) => Promise<void>;
  /** Picks the entry of the open quick pick whose label is `label`. */
  readonly pick: (label: string | RegExp) => Promise<void>;
  /** Waits until the text is to be seen anywhere in the window. */
  readonly waitForText: (text: string | RegExp, timeoutMs?: number) => Promise<Locator>;
  /** Waits for a notification with that text. */
  readonly notification: (text: string | RegExp, timeoutMs?: number) => Promise<Locator>;
  /** What the visible terminal shows, row by row, without trailing spaces. */
  readonly terminalText: () => Promise<string>;
  /** Waits until the visible terminal shows the text. */
  readonly waitForTerminal: (text: string | RegExp, timeoutMs?: number) => Promise<string>;
  /** A status bar item by the id that the extension gave it, or by the first or last parts of it. */
  readonly statusBarItem: (id: string) => Locator;
  /** Shows what the activity bar has under the name, whatever its badge counts. */
  readonly openSideBar: (name: string) => Promise<void>;
  /** Reloads the window and waits until Cordon is active in the new one. */
  readonly reload: () => Promise<void>;
  /** Saves a picture in artifacts/ and gives its path. */
  readonly screenshot: (name: string) => Promise<string>;
  /** What the browser's console said, for failure reports. */
  readonly consoleLines: readonly string[];
  /** Closes all of it; rejects when a process that the editor started is still alive afterwards. */
  readonly dispose: () => Promise<void>;
}

/** Opens an editor. It listens on a port of its own, with data folders of its own. */
export async function openEditor(options: EditorOptions = {}): Promise<Editor> {
  const folder = await createTemporaryFolder('editor');
  const cleanups: (() => Promise<unknown>)[] = [folder.dispose];
  const cleanUp = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup().catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) {
      throw errors[0];
    }
  };
  try {
    const dataDir = join(folder.path, 'data');
    await writeSettings(dataDir, options);
    const workspace =
      options.workspaceFile === undefined
        ? (options.workspace ?? (await createSampleWorkspace(join(folder.path, 'sample-project'))))
        : dirname(options.workspaceFile);
    for (const [name, text] of Object.entries(options.files ?? {})) {
      await writeFile(join(workspace, name), text);
    }
    if (options.vsix !== undefined) {
      await installExtension({ dataDir, vsix: options.vsix });
    }
    const linked = [
      ...(options.vsix === undefined ? [projectFolder] : []),
      ...(options.extraExtensions ?? []),
    ];
    for (const extension of linked) {
      await linkExtension({ dataDir, folder: extension });
    }
    const runId = randomUUID();
    const server = await startServer({
      dataDir,
      trust: options.trust ?? true,
      env: { ...options.env, [runIdVariable]: runId },
    });
    cleanups.push(async () => {
      // Sandboxed commands get an environment of their own, hence both: by descent and by environment.
      const started = [...descendantsOf(server.pid), ...processesWithEnvironment(runIdVariable, runId)];
      await server.dispose();
      await assertEnded(started);
    });
    const browser = await launchChromium();
    cleanups.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
    const consoleLines: string[] = [];
    page.on('console', (message) => {
      consoleLines.push(`[${message.type()}] ${message.text()}`);
      consoleLines.splice(0, consoleLines.length - 200);
    });
    const opened =
      options.workspaceFile === undefined ? { folder: workspace } : { workspaceFile: options.workspaceFile };
    await page.goto(editorUrl(server, opened));
    const editor: Editor = {
      page,
      workspace,
      serverPid: server.pid,
      consoleLines,
      ...hands(page),
      dispose: cleanUp,
    };
    await waitUntilReady(page).catch(async (error: unknown) => {
      await editor.screenshot('editor-did-not-open');
      throw error;
    });
    return editor;
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/**
 * One editor for the suite that calls it: opened before its tests, disposed after them, with a picture in
 * artifacts/ of every failed test. The result gives the editor inside tests and hooks.
 */
export function useEditor(
  options: EditorOptions | (() => EditorOptions | Promise<EditorOptions>) = {},
): () => Editor {
  let editor: Editor | undefined;
  before('open the editor', async () => {
    editor = await openEditor(typeof options === 'function' ? await options() : options);
  });
  afterEach('picture of a failure', async function () {
    if (this.currentTest?.state === 'failed' && editor !== undefined) {
      const path = await editor.screenshot(`failed ${this.currentTest.fullTitle()}`);
      console.log(`      picture: ${path}`);
    }
  });
  after('close the editor', async () => {
    await editor?.dispose();
    editor = undefined;
  });
  return () => {
    if (editor === undefined) {
      throw new Error('The editor is open only inside tests and hooks.');
    }
    return editor;
  };
}

/** Presses a button of a tree's row, with the mouse. The tree may be drawn anew under it, which ends the hovering. */
export async function pressRowButton(row: Locator, name: string): Promise<void> {
  const button = row.getByRole('button', { name });
  await waitFor(`the button "${name}"`, async () => {
    await row.page().mouse.move(0, 0);
    await row.hover();
    return button.isVisible();
  });
  await button.click();
}

const runIdVariable = 'CORDON_TEST_RUN';

const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on', // what fades away would count as visible
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
  'chat.disableAIFeatures': false,
  'chat.commandCenter.enabled': false,
  // The canvas renderers show pixels; this one shows text that a test can read.
  'terminal.integrated.gpuAcceleration': 'off',
  'terminal.integrated.shellIntegration.enabled': true,
  'editor.accessibilitySupport': 'off',
} as const;

async function writeSettings(dataDir: string, options: EditorOptions): Promise<void> {
  const files = {
    User: { ...quietSettings, ...options.userSettings },
    Machine: options.machineSettings ?? {},
  };
  for (const [name, settings] of Object.entries(files)) {
    const folder = join(dataDir, 'data', name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings, undefined, 2));
  }
}

/** Cordon shows its status bar item as the last step of its activation. */
async function waitUntilReady(page: Page): Promise<void> {
  await page.locator('.statusbar-item[id^="cordon.cordon"]').first().waitFor({ timeout: 60_000 });
}

type Hands = Omit<Editor, 'page' | 'workspace' | 'serverPid' | 'consoleLines' | 'dispose'>;

function hands(page: Page): Hands {
  const quickInput = page.locator('.quick-input-widget:visible');
  const input = quickInput.locator('.quick-input-box input');
  const focusedLabel = quickInput.locator('.monaco-list-row.focused .label-name').first();

  const labels = quickInput.locator('.monaco-list-row .label-name');
  const shownLabels = async (): Promise<readonly string[]> => (await labels.allInnerTexts()).map(normalise);

  const pick = async (label: string | RegExp): Promise<void> => {
    const matches = (text: string): boolean =>
      typeof label === 'string' ? text === label : label.test(text);
    const wanted = await waitFor(
      `the entry "${label}" in the quick pick`,
      async () => (await shownLabels()).find(matches),
      { describe: shownLabels },
    );
    // By keys, as a person does, and because rows are redrawn under the mouse while they filter.
    await waitFor(
      `the focus on "${wanted}"`,
      async () => {
        const focused = await focusedLabel.innerText({ timeout: 1000 }).catch(() => '');
        if (normalise(focused) === wanted) {
          return true;
        }
        await page.keyboard.press('ArrowDown');
        return false;
      },
      { describe: shownLabels },
    );
    await page.keyboard.press('Enter');
  };

  const openPalette = async (): Promise<void> => {
    await waitFor('the command palette', async () => {
      await page.keyboard.press('F1');
      await input.waitFor({ timeout: 2000 }).catch(() => {});
      return input.isVisible();
    });
  };

  const terminalText = async (): Promise<string> => {
    const rows = await page.locator('.terminal-wrapper.active .xterm-rows > div').allInnerTexts();
    return rows
      .map((row) => row.replaceAll('\u00a0', ' ').trimEnd())
      .join('\n')
      .trimEnd();
  };

  const runCommand = async (title: string): Promise<void> => {
    // An open palette does not learn of commands that are registered meanwhile, so it is opened anew.
    await waitFor(
      `the command "${title}"`,
      async () => {
        await openPalette();
        await input.fill(`>${title}`);
        const found = await waitFor(title, async () => (await shownLabels()).includes(title), {
          timeoutMs: 2000,
        }).catch(() => false);
        if (!found) {
          await page.keyboard.press('Escape');
        }
        return found;
      },
      { timeoutMs: 20_000 },
    );
    await pick(title);
  };

  return {
    quickInput,
    runCommand,
    async type(text) {
      await page.keyboard.type(text);
    },
    async press(...keys) {
      for (const key of keys) {
        await page.keyboard.press(key);
      }
    },
    async answer(text, placeholder) {
      await waitFor(
        `the input box ${placeholder ?? ''}`,
        async () => {
          if (!(await input.isVisible())) {
            return false;
          }
          const actual = (await input.getAttribute('placeholder')) ?? '';
          return typeof placeholder === 'object'
            ? placeholder.test(actual)
            : actual.includes(placeholder ?? '');
        },
        {
          describe: () =>
            input.getAttribute('placeholder', { timeout: 1000 }).catch(() => 'no input box is open'),
        },
      );
      await input.fill(text);
      await page.keyboard.press('Enter');
    },
    pick,
    async waitForText(text, timeoutMs = 20_000) {
      const locator = page.getByText(text).first();
      await locator.waitFor({ timeout: timeoutMs });
      return locator;
    },
    async notification(text, timeoutMs = 20_000) {
      const toast = page
        .locator('.notifications-toasts .notification-toast')
        .filter({ hasText: text })
        .first();
      await toast.waitFor({ timeout: timeoutMs });
      return toast;
    },
    terminalText,
    async waitForTerminal(text, timeoutMs = 30_000) {
      return waitFor(
        `${text} in the terminal`,
        async () => {
          const shown = await terminalText();
          return (typeof text === 'string' ? shown.includes(text) : text.test(shown)) ? shown : undefined;
        },
        { timeoutMs, describe: terminalText },
      );
    },
    statusBarItem(id) {
      return page
        .locator(`.statusbar-item[id="${id}"], .statusbar-item[id^="${id}."], .statusbar-item[id$=".${id}"]`)
        .first();
    },
    async openSideBar(name) {
      // With a badge, a screen reader says what it counts after the name: "Cordon - 1 patch waits".
      const item = page.locator('.activitybar').getByLabel(new RegExp(`^${name}( - |$)`));
      await item.first().click();
    },
    async reload() {
      const loaded = page.waitForEvent('load', { timeout: 60_000 });
      await Promise.all([loaded, runCommand('Developer: Reload Window')]);
      await waitUntilReady(page);
    },
    async screenshot(name) {
      await mkdir(artifactsFolder, { recursive: true });
      const file = `${name.replace(/[^\w.-]+/g, '-').slice(0, 120)}.png`;
      const path = join(artifactsFolder, file);
      await page.screenshot({ path });
      return path;
    },
  };
}

function normalise(text: string): string {
  return text.replaceAll('\u00a0', ' ').trim();
}
