/** The platform that packages are made for: this one. */
export const target: string;
/** Builds for production, packs into `folder`, and gives the path of the .vsix. */
export function createPackage(options?: { readonly folder?: string }): Promise<string>;
