/** Copies the sample project to `folder`, as a Git repository with one commit; gives the folder back. */
export function createSampleWorkspace(folder: string): Promise<string>;
