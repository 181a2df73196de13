import assert from 'node:assert/strict';
import { startParams } from '../../../../src/runtime/execServer/protocol/processes.ts';
import { refuseManagedNetwork } from '../../../../src/runtime/execServer/services/managedNetwork/refuseManagedNetwork.ts';

const proxy = {
  enableSocks5: true,
  enableSocks5Udp: false,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
};
const check = (words: object): void =>
  refuseManagedNetwork(
    startParams.parse({ processId: 'p', argv: ['true'], cwd: 'file:///', env: {}, tty: false, ...words }),
  );

describe('A start that wants its network managed', () => {
  for (const [field, words] of [
    ['enforceManagedNetwork', { enforceManagedNetwork: true }],
    ['managedNetwork', { managedNetwork: { loopbackPorts: [3128] } }],
    ['managedNetwork', { managedNetwork: { allowUnixSockets: ['/run/x'] } }],
    ['managedNetwork', { managedNetwork: { transparentTcp: true } }],
    ['networkProxy', { networkProxy: { proxy: { ...proxy, enabled: true } } }],
  ] as const) {
    it(`is refused by name: ${JSON.stringify(words)}`, () => {
      assert.throws(
        () => check(words),
        (error: Error & { code: number }) =>
          error.code === -32_602 && error.message.startsWith(`${field}: this server runs no network proxy`),
      );
    });
  }

  it('runs when the words ask for nothing', () => {
    check({});
    check({ enforceManagedNetwork: false, managedNetwork: null, networkProxy: null });
    check({ managedNetwork: {}, networkProxy: { proxy: { ...proxy, enabled: false } } });
  });
});
