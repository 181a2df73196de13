/** The input schema of each language-model tool, as the manifest has to give it. */
export function manifestSchemas(): Readonly<Record<string, unknown>>;
