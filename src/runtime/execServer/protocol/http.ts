import * as z from 'zod';

export const httpRequestParams = z.object({
  method: z.string(),
  url: z.string(),
  requestId: z.string(),
  headers: z
    .array(
      z.object({
        name: z.string(),
        value: z.string(),
        /** A variable of the server's environment, appended to the value. */
        valueEnvVar: z.string().nullish(),
      }),
    )
    .default([]),
  bodyBase64: z.string().nullish(),
  timeoutMs: z.int().min(0).nullish(),
  redirectPolicy: z.enum(['follow', 'stop']).default('follow'),
  streamResponse: z.boolean().default(false),
});
export const httpRequestResult = z.object({
  status: z.int(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  bodyBase64: z.string(),
});
export const bodyDeltaEvent = z.object({
  requestId: z.string(),
  seq: z.int(),
  deltaBase64: z.string(),
  done: z.boolean(),
  error: z.string().nullish(),
});
