/** Which patches wait for a person, strictest first: what narrows lies to the left. */
export const reviewModes = ['always', 'outsideRules', 'never'] as const;
export type ReviewMode = (typeof reviewModes)[number];

const defaultMode: ReviewMode = 'outsideRules';

/**
 * The mode that settings give: the user's value decides, the workspace's only counts where it is stricter. A value
 * that is no mode makes every patch wait, because somebody meant something by it.
 */
export function resolveReviewMode({
  user,
  workspace,
}: {
  readonly user: unknown;
  readonly workspace: unknown;
}): ReviewMode {
  const values = [user === undefined ? defaultMode : user, ...(workspace === undefined ? [] : [workspace])];
  const ranks = values.map((value) => Math.max(0, (reviewModes as readonly unknown[]).indexOf(value)));
  return reviewModes[Math.min(...ranks)] ?? 'always';
}
