import type { EnvironmentInfo } from '../protocol/handshake.ts';
import type { Service } from './service.ts';

export function environmentService(info: () => EnvironmentInfo): Service {
  return {
    handlers: {
      'environment/info': info,
      'environment/status': () => ({ status: 'ready' }),
    },
  };
}
