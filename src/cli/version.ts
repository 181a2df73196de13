declare const cordonVersion: string;

/** Of the extension that this was built for. */
export const ownVersion = typeof cordonVersion === 'string' ? cordonVersion : 'development';
