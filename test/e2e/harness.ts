import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { launchChromium } from '../../scripts/chromium.mjs';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import { editorUrl, installExtension, linkExtension, startServer } from '../../scripts/vscodeServer.mjs';
import type { ProcessEntry } from '../harness/processes.ts';
import { assertEnded, descendantsOf, isStillAlive, processesWithEnvironment } from '../harness/processes.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { patienceMs, waitFor } from '../harness/waitFor.ts';
import { expectCount, normaliseSpaces } from './expect.ts';

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
  /** The servers that run the commands of its windows. */
  readonly execServers: () => readonly ProcessEntry[];
  /** Opens the same folder in another window, and waits until Cordon is active in it. */
  readonly openSecond: () => Promise<Second>;
  /** Picks a command in the palette by its exact title, such as `Cordon: Run Sandboxed…`. */
  readonly runCommand: (title: string) => Promise<void>;
  /** Types text where the focus is, key by key. */
  readonly type: (text: string) => Promise<void>;
  /** Types text into the visible terminal, then presses keys, as soon as it has the focus. */
  readonly typeInTerminal: (text: string, ...keys: readonly string[]) => Promise<void>;
  /** Presses keys in Playwright's notation: `Enter`, `Control+C`. */
  readonly press: (...keys: readonly string[]) => Promise<void>;
  /** The open quick pick or input box. */
  readonly quickInput: Locator;
  /** Waits for an input box or quick pick (with `placeholder`, when given), enters text, presses Enter. */
  readonly answer: (text: string, placeholder?: string | RegExp) => Promise<void>;
  /** Opens a file of the workspace by its name, which no other file there has. */
  readonly openFile: (name: string) => Promise<void>;
  /** Puts the cursor into a line of an editor that is open, and waits until the editor has the focus. */
  readonly clickInto: (line: Locator) => Promise<void>;
  readonly closeAllEditors: () => Promise<void>;
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
  /** Shows what the activity bar has under the name, whatever its badge counts, unless it is shown already. */
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
      endExecServers(started);
      await assertEnded(started);
    });
    const browser = await launchChromium();
    cleanups.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
    page.setDefaultTimeout(patienceMs);
    page.setDefaultNavigationTimeout(startMs);
    await slowDown(page);
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
      execServers: () => processesWithEnvironment(runIdVariable, runId).filter(isExecServer),
      async openSecond() {
        const second = await browser.newPage({ viewport: { width: 1360, height: 860 } });
        second.setDefaultTimeout(patienceMs);
        await second.goto(editorUrl(server, opened));
        await waitUntilReady(second);
        return { ...hands(second), page: second };
      },
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
      const picture = editor.screenshot(`failed ${this.currentTest.fullTitle()}`);
      // A hook that fails would take the other tests of the suite with it.
      console.log(`      picture: ${await picture.catch((error: unknown) => `none, ${String(error)}`)}`);
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

/** They wait a minute for the next window, which does not come; what runs in them ends with them. */
function endExecServers(processes: readonly ProcessEntry[]): void {
  for (const entry of processes.filter(isExecServer).filter(isStillAlive)) {
    process.kill(entry.pid, 'SIGTERM');
  }
}

/** Whether it is a server that runs the commands of a window. */
export function isExecServer({ command }: ProcessEntry): boolean {
  return command.includes('exec-server --listen unix:');
}

/** Presses a button of a tree's row, with the mouse. The tree may be drawn anew under it, which ends the hovering. */
export async function pressRowButton(row: Locator, name: string): Promise<void> {
  const button = row.getByRole('button', { name });
  await waitFor(`the button "${name}"`, async () => {
    await row.page().mouse.move(0, 0);
    await row.hover();
    return (await button.isVisible()) && isDone(button.click({ timeout: momentMs }));
  });
}

/** Picks an entry of the menu that opens or is open, by keys: a menu takes no click in the moment in which it opens. */
export async function pickInMenu(
  { page, press }: Pick<Editor, 'page' | 'press'>,
  entry: string,
): Promise<void> {
  const entries = page.locator('.monaco-menu .action-item');
  await entries.first().waitFor();
  await waitFor(
    `the focus on "${entry}"`,
    async () => {
      await press('ArrowDown');
      const focused = await page.locator('.monaco-menu .action-item.focused').allInnerTexts();
      return focused.some((label) => label.includes(entry));
    },
    { describe: () => entries.allInnerTexts() },
  );
  await press('Enter');
  await expectCount(entries, 0);
}

/** Whether an action on the page was done before its own timeout. */
export function isDone(action: Promise<unknown>): Promise<boolean> {
  return action.then(
    () => true,
    () => false,
  );
}

/** How long the editor and Cordon in it may take to start. */
const startMs = 120_000;

/** How long one attempt may take where there are several, each of which does no harm when it was one too many. */
export const momentMs = 5_000;

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
  await page.locator('.statusbar-item[id^="cordon.cordon"]').first().waitFor({ timeout: startMs });
}

/** With CORDON_TEST_SLOWDOWN=4, the browser draws as on a machine with a quarter of the speed. */
async function slowDown(page: Page): Promise<void> {
  const rate = Number(process.env['CORDON_TEST_SLOWDOWN'] ?? 1);
  if (rate > 1) {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate });
  }
}

type Hands = Omit<
  Editor,
  'page' | 'workspace' | 'serverPid' | 'execServers' | 'openSecond' | 'consoleLines' | 'dispose'
>;

/** Another window on the same folder. */
export type Second = Hands & { readonly page: Page };

function hands(page: Page): Hands {
  const quickInput = page.locator('.quick-input-widget:visible');
  const input = quickInput.locator('.quick-input-box input');

  const textsOf = async (locator: Locator): Promise<readonly string[]> =>
    (await locator.allInnerTexts()).map(normaliseSpaces);
  const shownLabels = (): Promise<readonly string[]> =>
    textsOf(quickInput.locator('.monaco-list-row .label-name'));
  const focusedLabel = async (): Promise<string | undefined> =>
    (await textsOf(quickInput.locator('.monaco-list-row.focused .label-name')))[0];
  /** What the open input box asks for; undefined when none is open. */
  const question = async (): Promise<string | undefined> => {
    const [asked] = await input.evaluateAll((inputs: readonly { readonly placeholder: string }[]) =>
      inputs.map(({ placeholder }) => placeholder),
    );
    return asked;
  };

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
        if ((await focusedLabel()) === wanted) {
          return true;
        }
        await page.keyboard.press('ArrowDown');
        return false;
      },
      { describe: shownLabels },
    );
    await page.keyboard.press('Enter');
    // Reading fails when the window reloads, which is what a choice may be for.
    const left = (): Promise<string | undefined> => focusedLabel().catch(() => undefined);
    await waitFor(`"${wanted}" to be taken`, async () => (await left()) !== wanted);
  };

  /** Opens the input box of the palette by a key, with the focus in it. */
  const openPalette = async (key: string): Promise<void> => {
    await waitFor('the palette', async () => {
      await page.keyboard.press(key);
      return isDone(input.and(page.locator(':focus')).waitFor({ timeout: momentMs }));
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
        await openPalette('F1');
        await input.fill(`>${title}`);
        const found = await isDone(
          waitFor(title, async () => (await shownLabels()).includes(title), { timeoutMs: momentMs }),
        );
        if (!found) {
          await page.keyboard.press('Escape');
        }
        return found;
      },
      { describe: shownLabels },
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
    async typeInTerminal(text, ...keys) {
      await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
      await page.keyboard.type(text);
      for (const key of keys) {
        await page.keyboard.press(key);
      }
    },
    async answer(text, placeholder = '') {
      const asked = await waitFor(
        `the input box ${placeholder}`,
        async () => {
          const shown = await question();
          const isRight =
            typeof placeholder === 'string' ? shown?.includes(placeholder) : placeholder.test(shown ?? '');
          return isRight === true ? shown : undefined;
        },
        { describe: async () => (await question()) ?? 'no input box is open' },
      );
      await input.fill(text);
      await page.keyboard.press('Enter');
      await waitFor(`"${text}" to be taken`, async () => (await question()) !== asked);
    },
    async openFile(name) {
      await openPalette('Control+p');
      await input.fill(name);
      await pick(name);
      await page.locator('.tab.active').filter({ hasText: name }).waitFor();
    },
    async clickInto(line) {
      await line.click();
      await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
    },
    async closeAllEditors() {
      await runCommand('View: Close All Editors');
      await expectCount(page.locator('.tab'), 0);
    },
    pick,
    async waitForText(text, timeoutMs = patienceMs) {
      const locator = page.getByText(text).filter({ visible: true }).first();
      await locator.waitFor({ timeout: timeoutMs });
      return locator;
    },
    async notification(text, timeoutMs = patienceMs) {
      const toast = page
        .locator('.notifications-toasts .notification-toast')
        .filter({ hasText: text })
        .first();
      await toast.waitFor({ timeout: timeoutMs });
      // It goes by itself after some seconds, but not from under the mouse.
      await isDone(toast.hover({ timeout: momentMs }));
      return toast;
    },
    terminalText,
    async waitForTerminal(text, timeoutMs = patienceMs) {
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
      const title = page.locator('.part.sidebar .title-label').filter({ hasText: name, visible: true });
      await waitFor(`the side bar ${name}`, async () => {
        // A click on what is shown hides it.
        if ((await title.count()) === 0) {
          await item.first().click();
        }
        return isDone(title.waitFor({ timeout: momentMs }));
      });
    },
    async reload() {
      const loaded = page.waitForEvent('load', { timeout: startMs });
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
