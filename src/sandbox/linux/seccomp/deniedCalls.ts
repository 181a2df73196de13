import type { DeniedCall } from '../../denials/deniedCall.ts';
import type { Architecture } from './architectures.ts';
import { arm64, x64 } from './architectures.ts';

/** Reads what the companion program notes: a line for each kind of call, its number and its detail. */
export function readDeniedCalls(
  text: string,
  { calls }: Architecture = process.arch === 'arm64' ? arm64 : x64,
): readonly DeniedCall[] {
  const names = new Map(Object.entries(calls).map(([name, number]) => [number, name]));
  return [...text.matchAll(/^(\d+) (\d+)$/gm)].map(([, number, detail]) => ({
    call: names.get(Number(number)) ?? `number ${number}`,
    detail: Number(detail),
  }));
}
