import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Environment, EnvironmentProvider, EnvironmentServices } from './environment.ts';
import { sshProvider } from './sshEnvironment.ts';
import { urlProvider } from './urlEnvironment.ts';

/** A provider that checks the settings before it opens anything. */
export interface CheckedProvider {
  readonly type: string;
  readonly settings: z.ZodType;
  open(name: string, settings: unknown, services: EnvironmentServices): Result<Environment, z.core.$ZodIssue>;
}

/** Every kind of environment that the setting `cordon.environments` can define. */
export const providers: readonly CheckedProvider[] = [checked(urlProvider), checked(sshProvider)];

export function checked<Settings>(provider: EnvironmentProvider<Settings>): CheckedProvider {
  return {
    type: provider.type,
    settings: provider.settings,
    open(name, settings, services) {
      const parsed = provider.settings.safeParse(settings);
      const issue = parsed.error?.issues[0];
      return parsed.success
        ? ok(provider.open(name, parsed.data, services))
        : fail(issue as z.core.$ZodIssue);
    },
  };
}

/** The JSON schema of the setting `cordon.environments`: one shape for each provider. */
export function environmentsJsonSchema(all: readonly CheckedProvider[] = providers): object {
  return { type: 'object', additionalProperties: { type: 'object', anyOf: all.map(jsonSchemaOf) } };
}

function jsonSchemaOf({ type, settings }: CheckedProvider): object {
  const { properties, required = [], additionalProperties } = z.toJSONSchema(settings, { io: 'input' });
  return {
    type: 'object',
    ...(additionalProperties !== undefined && { additionalProperties }),
    properties: { type: { type: 'string', enum: [type] }, ...properties },
    required: ['type', ...required],
  };
}
