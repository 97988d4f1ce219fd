/**
 * Spans by the GenAI semantic conventions: `invoke_agent` for a query, `chat` for a request, `execute_tool` for a call, with the decision
 * of the permission gate on it. Any tracer provider will do; this one prints.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/open-telemetry.ts`
 */
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { buildTool, createSession } from 'sixgates';
import { inspectFlow, traceFlow } from 'sixgates/inspect';
import { z } from 'zod';

const printer: SpanExporter = {
  export: (spans: ReadableSpan[], done) => {
    for (const { name, attributes } of spans) console.log(name, attributes['sixgates.permission.reason'] ?? '');
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(printer)] });

const dice = buildTool({
  name: 'Dice',
  description: 'Throws a die.',
  inputSchema: z.strictObject({}),
  isReadOnly: () => true,
  call: async () => ({ data: '4' }),
});
const session = createSession({ tools: [dice], builtInTools: false, store: false, permissions: { allow: ['Dice'] } });

const flow = inspectFlow(session);
// Arguments and results stay out of the spans unless `captureContent` is set.
const stop = traceFlow(flow.log, { tracer: provider.getTracer('sixgates') });

await session.send('Throw a die.').done;
await session.close();
stop();
flow.detach();
await provider.shutdown();
