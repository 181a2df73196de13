/** The commands of the manifest; a test compares both. */
export const commandIds = {
  runSandboxed: 'cordon.runSandboxed',
  showSession: 'cordon.showSession',
  killSession: 'cordon.killSession',
  restoreCheckpoint: 'cordon.restoreCheckpoint',
  showCheckpointChanges: 'cordon.showCheckpointChanges',
  deleteCheckpoint: 'cordon.deleteCheckpoint',
  changeSandbox: 'cordon.changeSandbox',
  checkSandbox: 'cordon.checkSandbox',
  explainSandboxError: 'cordon.explainSandboxError',
  wakeAgent: 'cordon.wakeAgent',
  showLog: 'cordon.showLog',
} as const;
