export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export type Contestants = Readonly<Record<string, () => Promise<unknown>>>;

export interface RaceOptions {
  readonly rounds: number;
  /** Makes ready what a run uses up; not timed. */
  readonly prepare?: () => Promise<void>;
}

/** Median milliseconds of each contestant. */
export async function race(contestants: Contestants, options: RaceOptions): Promise<Record<string, number>> {
  const times = await measure(contestants, options);
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/**
 * All milliseconds of each contestant. They take turns, so that the machine's other work hits all alike, and each round
 * in another order, so that none always pays for what the kernel tidies up after the same other one.
 */
export async function measure(
  contestants: Contestants,
  { rounds, prepare }: RaceOptions,
): Promise<Record<string, number[]>> {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, [] as number[]]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of shuffled(Object.entries(contestants))) {
      await prepare?.();
      const startedAt = performance.now();
      await run();
      const elapsed = performance.now() - startedAt;
      // Two rounds warm up.
      if (round >= 0) {
        times[name]?.push(elapsed);
      }
    }
  }
  return times;
}

/** Fisher and Yates's. */
function shuffled<T>(values: readonly T[]): readonly T[] {
  const all = [...values];
  for (let last = all.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}

/** Prints each median with its ratio to the named base. */
export function printRatios(title: string, medians: Readonly<Record<string, number>>, base: string): void {
  console.log(`\n${title}`);
  const width = Math.max(...Object.keys(medians).map((name) => name.length));
  for (const [name, ms] of Object.entries(medians)) {
    const ratio = ms / (medians[base] as number);
    console.log(`  ${name.padEnd(width)}  ${ms.toFixed(1).padStart(8)} ms  ${ratio.toFixed(2).padStart(6)}×`);
  }
}
