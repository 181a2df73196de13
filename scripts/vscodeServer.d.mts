export interface ServerPaths {
  readonly folder: string;
  readonly vscode: string;
  readonly main: string;
  readonly node: string;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** Ends the server's whole process group. */
  dispose(): Promise<void>;
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** Default true: every workspace is trusted and nobody is asked. */
  readonly trust?: boolean;
  /** Default false. True: extensions and tests named in the address are loaded; no notification toasts then. */
  readonly development?: boolean;
  readonly extraArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface EditorAddress {
  readonly folder?: string | undefined;
  readonly workspaceFile?: string | undefined;
  readonly extensionPaths?: readonly string[] | undefined;
  readonly testsPath?: string | undefined;
}

export const serverVersion: string;
export function cacheFolder(): string;
export function serverPaths(): ServerPaths;
export function hasServer(): boolean;
export function ensureServer(options?: { readonly log?: (line: string) => void }): Promise<ServerPaths>;
export function startServer(options: ServerOptions): Promise<Server>;
export function linkExtension(options: { readonly dataDir: string; readonly folder: string }): Promise<void>;
export function installExtension(options: { readonly dataDir: string; readonly vsix: string }): Promise<void>;
export function editorUrl(server: Pick<Server, 'url' | 'port'>, address: EditorAddress): string;
