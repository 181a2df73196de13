export declare const codexVersion: string;
export declare function ensureCodex(): Promise<string>;
