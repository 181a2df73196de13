import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';
import { normaliseSpaces } from './expect.ts';
import { isDone, momentMs, pickInMenu, projectFolder, useEditor } from './harness.ts';
import type { Editor, EditorOptions } from './harness.ts';

export interface Chat {
  readonly editor: Editor;
  /** The question above the input; counts none while nothing is asked. */
  readonly card: Locator;
  /** Sends a prompt that makes the scripted model call `cordon_exec_command` with this input. */
  readonly ask: (input: object) => Promise<void>;
  /** Sends a prompt that makes it call `cordon_apply_patch` with these lines between the markers. */
  readonly patch: (...lines: readonly string[]) => Promise<void>;
  /** The same with names that are relative to a folder. */
  readonly patchIn: (workdir: string, ...lines: readonly string[]) => Promise<void>;
  /** Waits until the answer to the last prompt, which is what the model got from the tool, has the text. */
  readonly answer: (text: string | RegExp) => Promise<string>;
  readonly allowOnce: () => Promise<void>;
  readonly skip: () => Promise<void>;
  /** Stops the request that runs. */
  readonly cancel: () => Promise<void>;
}

/** An editor with the chat open and the scripted model ready. */
export function useChat(options: EditorOptions | (() => Promise<EditorOptions>) = {}): () => Chat {
  let chat: Chat | undefined;
  const scriptedModel = join(projectFolder, 'test', 'fixtures', 'scripted-model');
  const editor = useEditor(async () => ({
    ...(typeof options === 'function' ? await options() : options),
    extraExtensions: [scriptedModel],
  }));
  before('open the chat', async () => {
    await editor().runCommand('Chat: Open Chat');
    // Requests fail while the editor does not know the model.
    await modelIsKnown(editor());
    chat = chatOf(editor());
  });
  afterEach('leave nothing waiting after a failure', async function () {
    if (this.currentTest?.state === 'failed' && chat !== undefined) {
      await settle(chat.editor).catch((error: unknown) =>
        console.log(`      left waiting: ${String(error)}`),
      );
    }
  });
  return () => {
    if (chat === undefined) {
      throw new Error('The chat is open only inside tests.');
    }
    return chat;
  };
}

/** Waits until the chat can be asked. */
export async function modelIsKnown({ page }: Editor): Promise<void> {
  await page.locator('.model-picker-item').getByText('Scripted Model').waitFor();
}

/** Ends what a failed test may have left: menus and questions, a request that runs, patches that wait, editors. */
async function settle(editor: Editor): Promise<void> {
  const { page, press, quickInput, runCommand, statusBarItem, closeAllEditors } = editor;
  const inTheWay = page.locator('.monaco-menu, .monaco-dialog-box').or(quickInput);
  await waitFor('menus and questions to go', async () => {
    await press('Escape');
    return (await inTheWay.count()) === 0;
  });
  const stop = stopButton(page);
  if (await stop.isVisible()) {
    await pressStop(stop);
  }
  const patches = statusBarItem('patchReviews');
  while (await patches.isVisible()) {
    const before = await patches.innerText();
    await runCommand('Cordon: Reject Patch…');
    await waitFor('one patch less', async () => {
      // Answers which one, when there are several, and why.
      if (await quickInput.isVisible()) {
        await press('Enter');
      }
      return (await patches.allInnerTexts())[0] !== before;
    });
  }
  await closeAllEditors();
}

/** The button may be drawn anew under a click, which is then lost; a tooltip of what is below may cover it. */
async function pressStop(stop: Locator): Promise<void> {
  await stop.waitFor();
  await waitFor('the request to stop', async () => {
    await stop.page().mouse.move(0, 0);
    await isDone(stop.click({ timeout: momentMs }));
    return isDone(stop.waitFor({ state: 'detached', timeout: momentMs }));
  });
}

function stopButton(page: Page): Locator {
  return page.locator('.chat-input-toolbars').getByLabel('Cancel (');
}

function chatOf(editor: Editor): Chat {
  const { page, type, press } = editor;
  const card = page.locator('.chat-tool-confirmation-carousel');
  const stop = stopButton(page);
  const input = page.locator('.chat-editor-container');
  let prompts = 0;
  const draft = (): Promise<string> => visibleText(input);
  const draftIs = (matches: (text: string) => boolean): Promise<boolean> =>
    waitFor('the draft', async () => matches(await draft()), { timeoutMs: 5_000 }).catch(() => false);
  const ask = async (prompt: object): Promise<void> => {
    prompts += 1;
    const text = `@tester ${prompts} ${JSON.stringify(prompt)}`;
    const wanted = withoutSpaces(text);
    // After a reload the editor puts back what it once saved of the input, even while one types.
    await waitFor(
      'the prompt in the input',
      async () => {
        await input.click();
        await page.mouse.move(0, 0); // no tooltip is to cover what is clicked next
        await input.locator('.monaco-editor.focused').waitFor();
        await press('ControlOrMeta+a', 'Delete');
        await type(text);
        const endIsThere = await draftIs((shown) => shown !== '' && wanted.endsWith(shown));
        await press('ControlOrMeta+Home');
        return endIsThere && draftIs((shown) => shown !== '' && wanted.startsWith(shown));
      },
      { timeoutMs: 120_000, describe: draft },
    );
    await press('Enter');
    await waitFor('the prompt to be sent', async () => (await draft()) === '', { describe: draft });
  };
  const patch = (lines: readonly string[], workdir?: string): Promise<void> =>
    ask({
      tool: 'cordon_apply_patch',
      input: { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'), workdir },
    });
  const shown = async (): Promise<string> => {
    // The response to the prompt before is there until the editor has drawn the new one.
    const response = page.locator('.chat-most-recent-response').filter({ hasText: answerMark(prompts) });
    const texts = await response.locator('.interactive-result-editor .view-lines').allInnerTexts();
    return normaliseSpaces(texts.join('\n'));
  };
  return {
    editor,
    card,
    ask,
    patch: (...lines) => patch(lines),
    patchIn: (workdir, ...lines) => patch(lines, workdir),
    async answer(text) {
      const found = await waitFor(
        `${text} in the answer`,
        async () => {
          const actual = await shown();
          return (typeof text === 'string' ? actual.includes(text) : text.test(actual)) ? actual : undefined;
        },
        { describe: shown },
      );
      // A prompt that is sent before the end waits in a queue.
      await stop.waitFor({ state: 'detached' });
      return found;
    },
    async allowOnce() {
      await card.getByLabel('More Actions...').click();
      await pickInMenu(editor, 'Allow Once');
      await card.waitFor({ state: 'detached' });
    },
    async skip() {
      await card.getByRole('button', { name: 'Proceed without running this tool' }).click();
      await card.waitFor({ state: 'detached' });
    },
    cancel: () => pressStop(stop),
  };
}

/** The lines of an editor that are in sight, which the document holds in no order. */
async function visibleText(editor: Locator): Promise<string> {
  const lines = await editor.locator('.view-line').evaluateAll((elements: readonly Line[]) =>
    elements
      .map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent }))
      .sort((a, b) => a.top - b.top)
      .map(({ text }) => text),
  );
  return withoutSpaces(normaliseSpaces(lines.join('')));
}

/** Of the browser's elements what is used here. */
interface Line {
  readonly textContent: string;
  getBoundingClientRect(): { readonly top: number };
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/g, '');
}

/** What the participant puts above its answer to the prompt with that number. */
function answerMark(prompt: number): RegExp {
  return new RegExp(`Answer to prompt ${prompt}\\.`);
}
