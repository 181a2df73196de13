import type { ReviewOutcome } from '../patchHost.ts';

/** One sentence for the model about a review whose call had ended before it was decided. */
export function outcomeNote(title: string, outcome: ReviewOutcome & { readonly kind: 'decided' }): string {
  const { files, comment } = outcome;
  const counts = (['accepted', 'changed', 'rejected'] as const).flatMap((decision) => {
    const names = files.filter((file) => file.decision === decision).map(describe);
    return names.length === 0 ? [] : [`${words[decision]} ${names.join(', ')}`];
  });
  const said = comment === undefined ? '' : ` The person wrote: ${comment}`;
  return `Since the last call, the patch "${title}" that waited for its review was decided: ${counts.join('; ')}.${said}`;

  function describe({ name, comment: about }: (typeof files)[number]): string {
    return about === undefined ? name : `${name} (comment: ${about})`;
  }
}

const words = {
  accepted: 'applied',
  changed: 'applied with changes by the person',
  rejected: 'rejected, not applied',
} as const;
