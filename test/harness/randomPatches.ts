import type { Random } from './random.ts';

/** Relative path → text. */
export type Files = Readonly<Record<string, string>>;

const words = [
  'alpha',
  'beta',
  'gamma',
  '  x = 1',
  '\ty',
  '}',
  '',
  'say “hi” – now',
  'end  ',
  'é',
  '*** note',
  '@@ no',
];

/** Up to four small text files. */
export function randomFiles(random: Random): Files {
  const names = ['a.txt', 'b.txt', 'dir/c.txt', 'dir/deep/d.txt'].filter(() => random.chance(0.7));
  return Object.fromEntries(
    (names.length === 0 ? ['a.txt'] : names).sort().map((name) => [name, randomText(random)]),
  );
}

/** One kind of line end a file: with mixed ones ours differs on purpose. */
function randomText(random: Random): string {
  const lineEnd = random.chance(0.2) ? '\r\n' : '\n';
  const lines = Array.from({ length: random.integer(0, 12) }, () => random.pick(words));
  return lines.join(lineEnd) + (lines.length > 0 && random.chance(0.85) ? lineEnd : '');
}

/** A patch for these files that mostly applies, and stays clear of what ours does otherwise than the peer. */
export function randomPatch(random: Random, files: Files): string {
  const names = Object.keys(files);
  const sections = Array.from({ length: random.integer(1, 3) }, () => {
    const kind = random.next();
    if (kind < 0.15) {
      return [
        `*** Add File: ${random.pick(['new.txt', 'dir/new.txt', 'x/y/z.txt'])}`,
        ...randomLines(random).map((line) => `+${line}`),
      ];
    }
    if (kind < 0.25) {
      return [`*** Delete File: ${random.pick(names)}`];
    }
    const name = random.pick(names);
    const move = random.chance(0.15) ? [`*** Move to: ${random.pick(['moved.txt', 'dir/moved.txt'])}`] : [];
    return [`*** Update File: ${name}`, ...move, ...randomChunks(random, files[name] ?? '')];
  });
  return ['*** Begin Patch', ...sections.flat(), '*** End Patch', ''].join('\n');
}

function randomLines(random: Random): string[] {
  return Array.from({ length: random.integer(0, 4) }, () => random.pick(words));
}

/** Mostly lines as they stand in the file, in order; now and then loosened, reordered or invented. */
function randomChunks(random: Random, text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') {
    lines.pop();
  }
  const chunks: string[] = [];
  let position = 0;
  for (let count = random.integer(1, 3); count > 0; count -= 1) {
    const start = Math.min(lines.length, position + random.integer(0, 2));
    const end = Math.min(lines.length, start + random.integer(1, 4));
    position = end;
    const hasContext = start > 0 && end > start && random.chance(0.2);
    const body = lines.slice(start, end).flatMap((line) => randomlySigned(random, loosened(random, line)));
    if (body.at(-1) === '-') {
      // When the file lacks the blank line, the peer takes away a line of context in its place.
      body.pop();
    }
    if (body.length === 0) {
      body.push(`+${random.pick(words)}`);
    }
    // With only added lines below a context ours differs on purpose.
    const isPureAddition = body.every((line) => line.startsWith('+'));
    chunks.push(hasContext && !isPureAddition ? `@@ ${lines[start - 1] ?? ''}` : '@@', ...body);
    if (end === lines.length && random.chance(0.2)) {
      chunks.push('*** End of File');
    }
  }
  return chunks;
}

function randomlySigned(random: Random, line: string): string[] {
  const choice = random.next();
  if (choice < 0.45) {
    return [` ${line}`];
  }
  return choice < 0.65
    ? [`-${line}`]
    : choice < 0.85
      ? [`-${line}`, `+${random.pick(words)}`]
      : [`+${random.pick(words)}`, ` ${line}`];
}

function loosened(random: Random, line: string): string {
  if (random.chance(0.85)) {
    return line;
  }
  return random.pick([
    `${line} `,
    line.trim(),
    ` ${line}`,
    line.replaceAll('“', '"').replaceAll('”', '"').replaceAll('–', '-'),
    'invented',
  ]);
}
