import { setImmediate as afterThisTurn } from 'node:timers/promises';

const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

/** The test runner passes over rejections that nobody handles; a test fails during which there was one. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    await afterThisTurn();
    const [first] = unhandled.splice(0);
    if (first !== undefined) {
      throw new Error('nobody handled a rejection', { cause: first });
    }
  },
};
