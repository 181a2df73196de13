export declare const sandboxRuntimeVersion: string;
export declare function ensureSandboxRuntime(): Promise<{
  readonly program: string;
  readonly library: string;
}>;
