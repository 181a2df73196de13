import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call of a function with arguments, or of a tool that takes free text. */
export type ToolCall =
  | { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly name: string; readonly input: string };

interface InputItem {
  readonly type: string;
  readonly call_id?: string;
  readonly output?: unknown;
}

interface Turn {
  readonly input: readonly InputItem[];
  readonly response: ServerResponse;
}

/**
 * A model behind the Responses API on loopback, whose mind is the test: an agent asks it what to do next, and waits
 * until the test says so.
 */
export class ScriptedModel {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #turns: Turn[] = [];
  #arrived = Promise.withResolvers<void>();
  #calls = 0;

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Has the agent make these calls, side by side; what it answers to each of them. */
  async call(...calls: readonly ToolCall[]): Promise<readonly string[]> {
    const items = calls.map((call) => ({
      call_id: `call-${++this.#calls}`,
      ...('input' in call
        ? { type: 'custom_tool_call', ...call }
        : { type: 'function_call', name: call.name, arguments: JSON.stringify(call.arguments) }),
    }));
    speak((await this.#turn()).response, items);
    const { input } = await this.#turn('peek');
    return items.map(({ call_id: id, type }) => {
      const answer = input.find((item) => item.call_id === id && item.type === `${type}_output`);
      return typeof answer?.output === 'string' ? answer.output : JSON.stringify(answer?.output);
    });
  }

  /** Says the last word, after which the agent ends. */
  async finish(): Promise<void> {
    const content = [{ type: 'output_text', text: 'Done.' }];
    speak((await this.#turn()).response, [{ type: 'message', role: 'assistant', content }]);
  }

  dispose(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #turn(how: 'take' | 'peek' = 'take'): Promise<Turn> {
    for (;;) {
      const [turn] = this.#turns;
      if (turn !== undefined) {
        if (how === 'take') {
          this.#turns.shift();
        }
        return turn;
      }
      await this.#arrived.promise;
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray();
    if (request.method !== 'POST' || request.url !== '/v1/responses') {
      response.writeHead(404).end();
      return;
    }
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as Pick<Turn, 'input'>;
    this.#turns.push({ input, response });
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

function speak(response: ServerResponse, items: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const id = 'response';
  send('response.created', { response: { id } });
  items.forEach((item, index) => send('response.output_item.done', { output_index: index, item }));
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  send('response.completed', { response: { id, usage } });
  response.end();
}
