import { parseGitConfig } from '../git/configFile.ts';
import { runsProgram } from '../git/executedKeys.ts';

const mark = '# disarmed by Cordon: ';

export interface DisarmedConfig {
  /** The same file with those variables as comments. */
  readonly text: string;
  readonly keys: readonly string[];
}

/** Undefined when git would run nothing because of it; `unreadable` when nobody can say. */
export function disarmConfig(text: string): DisarmedConfig | 'unreadable' | undefined {
  const entries = parseGitConfig(text);
  if (entries === undefined) {
    return 'unreadable';
  }
  const armed = entries.filter(runsProgram);
  if (armed.length === 0) {
    return undefined;
  }
  const disarmed = armed.reduceRight(
    (rest, { start, end }) =>
      rest.slice(0, start) + mark + rest.slice(start, end).replace(/\r?\n/g, `\n${mark}`) + rest.slice(end),
    text,
  );
  return { text: disarmed, keys: [...new Set(armed.map(({ key }) => key))] };
}
