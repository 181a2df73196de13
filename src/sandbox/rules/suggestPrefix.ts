import type { Words } from '../commands/commandLine.ts';
import { isBannedPrefix } from './bannedPrefixes.ts';

/** `npm run test`, `docker compose up`: no prefix needs more words to mean something. */
const maxWords = 4;

/**
 * A prefix that all these commands begin with: the wanted one, or the first words that say what is done, without what
 * it is done to. Undefined when it would be banned.
 */
export function suggestPrefix(commands: readonly Words[], wanted?: Words): Words | undefined {
  const [first, ...others] = commands;
  const candidates = [wanted ?? [], first === undefined ? [] : ownGuess(first)];
  return candidates.find(
    (prefix) =>
      first !== undefined &&
      prefix.length > 0 &&
      !isBannedPrefix(prefix) &&
      [first, ...others].every((words) => prefix.every((word, index) => words[index] === word)),
  );
}

/** The program and its command; more words only while fewer would be banned. */
function ownGuess(words: Words): Words {
  const isCommandWord = (word: string): boolean => /^[a-z][a-z0-9]*(?:[:-][a-z0-9]+)*$/i.test(word);
  const end = words.findIndex((word, index) => index > 0 && !isCommandWord(word));
  const said = words.slice(0, Math.min(end === -1 ? words.length : end, maxWords));
  const lengths = said.map((_, index) => index + 1).filter((length) => length >= Math.min(2, said.length));
  return said.slice(
    0,
    lengths.find((length) => !isBannedPrefix(said.slice(0, length))),
  );
}
