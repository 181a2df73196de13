import type * as z from 'zod';

/** The server's answer has not the shape that the protocol gives it. */
export class MalformedAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedAnswer';
  }
}

/** Reads the result of a method. Throws a {@link MalformedAnswer} that names the method and the first wrong field. */
export function resultOf<T>(method: string, schema: z.ZodType<T>, result: unknown): T {
  const parsed = schema.safeParse(result);
  if (parsed.success) {
    return parsed.data;
  }
  const issue = parsed.error.issues[0];
  const field = issue?.path.map(String).join('.') ?? '';
  throw new MalformedAnswer(
    `The exec-server's answer to ${method} is malformed: ${field === '' ? 'the result' : `the field ${field}`}: ${issue?.message ?? 'not as the protocol says'}`,
  );
}
