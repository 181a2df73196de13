import { dirname, relative } from 'node:path';
import * as vscode from 'vscode';
import { hunkLines } from '../../patch/review/hunkLines.ts';
import { statusOf } from '../../patch/review/pieces.ts';
import type { Hunk, HunkStatus } from '../../patch/review/pieces.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { decisionOf, hunksOf, resultName, resultPath } from '../../patch/review/reviewFile.ts';
import type { ReviewFile } from '../../patch/review/reviewFile.ts';
import { commandIds } from '../commands/commandIds.ts';
import { rootLabel } from '../rootLabel.ts';
import { uriOf } from './reviewUris.ts';
import { onMachine } from '../machineWords.ts';
import { fileWords, hunkSize, hunkText, reviewWords, statusWords } from './reviewWords.ts';

/** Reviews with more files than this begin with their files folded. */
const manyFiles = 10;

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

export function reviewItem(review: Review, hasCaller: boolean): vscode.TreeItem {
  const words = rootLabel(review.machine?.folder ?? review.root) + reviewWords(review, hasCaller);
  const item = new vscode.TreeItem(review.title, Expanded);
  item.id = review.id;
  item.description = words;
  item.iconPath = reviewIcon(review);
  item.contextValue = `review-${review.state.kind}`;
  item.tooltip = reviewTooltip(review, words);
  item.accessibilityInformation = { label: `Patch ${review.title}, ${words}` };
  return item;
}

function reviewIcon({ state }: Review): vscode.ThemeIcon {
  return state.kind === 'obsolete' || state.failure !== undefined
    ? new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'))
    : new vscode.ThemeIcon('git-pull-request');
}

function reviewTooltip(review: Review, words: string): vscode.MarkdownString {
  const { title, state, comment, cwd, plan } = review;
  const error = state.kind === 'obsolete' ? state.error : state.failure;
  return paragraphs([
    `${title}: ${words}`,
    onMachine(review) + cwd,
    error?.message,
    error?.hint,
    ...plan.notes,
    comment && `Your comment: ${comment}`,
  ]);
}

export function fileItem(review: Review, index: number, file: ReviewFile): vscode.TreeItem {
  const { change } = file;
  const words = fileWords(file);
  const path = resultPath(change);
  const folder = dirname(relative(review.cwd, path));
  const refusals = review.refusals.filter((refusal) => refusal.path === path || refusal.path === change.path);
  const folding = review.files.length > manyFiles ? Collapsed : Expanded;
  const item = new vscode.TreeItem(uriOf(review, file, 'right'), hunksOf(file).length === 0 ? None : folding);
  item.id = `${review.id}/${change.path}`;
  item.iconPath = vscode.ThemeIcon.File;
  const warning = refusals.length === 0 ? '' : 'outside of the rules';
  item.description = [folder === '.' ? '' : folder, words, warning].filter((part) => part !== '').join(' · ');
  item.contextValue = contextOf('file', review, decisionOf(file));
  item.tooltip = paragraphs([
    onMachine(review) + path,
    words,
    ...refusals.map(({ message }) => message),
    file.comment && `Your comment: ${file.comment}`,
  ]);
  item.accessibilityInformation = { label: [resultName(change), words, warning].filter(Boolean).join(', ') };
  item.command = openCommand({ reviewId: review.id, file: index });
  return item;
}

export function hunkItem(
  review: Review,
  target: ReviewTarget,
  hunk: Hunk,
  file: ReviewFile,
): vscode.TreeItem {
  const status = statusOf(hunk);
  const lines = hunkLines(file, 'right')[target.hunk ?? 0];
  const place = `Line ${(lines?.start ?? 0) + 1}`;
  const item = new vscode.TreeItem(place, None);
  item.id = `${review.id}/${file.change.path}/${target.hunk}`;
  const words = status === 'pending' ? '' : statusWords[status];
  item.description = [hunkSize(hunk), words, hunkText(hunk)].filter((part) => part !== '').join('  ');
  item.iconPath = hunkIcons[status]();
  item.contextValue = contextOf('hunk', review, status);
  item.tooltip = hunkTooltip(hunk, statusWords[status]);
  item.accessibilityInformation = {
    label: `${place}, ${statusWords[status]}, ${hunk.proposed.length} added, ${hunk.before.length} removed, ${hunkText(hunk)}`,
  };
  item.command = openCommand(target);
  return item;
}

/** Nothing of an obsolete review can be decided. */
function contextOf(row: 'file' | 'hunk', { state }: Review, status: string): string {
  return state.kind === 'obsolete' ? row : `${row}-${status}`;
}

const hunkIcons: Readonly<Record<HunkStatus, () => vscode.ThemeIcon>> = {
  pending: () => new vscode.ThemeIcon('circle-outline'),
  changed: () => new vscode.ThemeIcon('edit'),
  accepted: () => new vscode.ThemeIcon('check', new vscode.ThemeColor('testing.iconPassed')),
  rejected: () => new vscode.ThemeIcon('close', new vscode.ThemeColor('disabledForeground')),
};

/** Enough to recognise it; the diff shows the rest. */
const maxTooltipLines = 20;

function hunkTooltip(hunk: Hunk, words: string): vscode.MarkdownString {
  const lines = [...hunk.before.map((line) => `-${line}`), ...hunk.proposed.map((line) => `+${line}`)].map(
    (line) => line.trimEnd(),
  );
  const shown = lines.slice(0, maxTooltipLines);
  const more = lines.length > shown.length ? ['…'] : [];
  const text = paragraphs([words, hunk.comment && `Your comment: ${hunk.comment}`]);
  return text.appendCodeblock([...shown, ...more].join('\n'), 'diff');
}

function openCommand(target: ReviewTarget): vscode.Command {
  return { command: commandIds.openPatchReview, title: 'Open', arguments: [target] };
}

/** Plain text: nothing of a patch may format or link here. */
function paragraphs(parts: readonly (string | undefined)[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  for (const part of parts) {
    if (part !== undefined && part !== '') {
      text.appendText(part).appendMarkdown('\n\n');
    }
  }
  return text;
}
